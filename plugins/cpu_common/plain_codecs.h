// SPDX-License-Identifier: Apache-2.0
// Codecs whose block is one part of 32 columns.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/codec_parts.h"

namespace colibri::cpu {

struct Q8_0Weights : CodecParts<Q8_0Weights, COLIBRI_CODEC_Q8_0> {
  static constexpr bool kSigned = true;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return S::load_panels(part + 32 * c, next);
  }
};

// Nibbles; Less is what comes off them.
template <class Codec, uint32_t id, int less, Offset offset = Offset::kNone>
struct NibbleCodec : CodecParts<Codec, id, offset> {
  static constexpr int kMost = 15;
  static constexpr int kLess = less;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return nibble_columns<S, c>(part, next);
  }
};
struct Q4_0Weights : NibbleCodec<Q4_0Weights, COLIBRI_CODEC_Q4_0, 8> {};
struct Q4_1Weights : NibbleCodec<Q4_1Weights, COLIBRI_CODEC_Q4_1, 0, Offset::kOfPart> {};

// Five bits; the fifth ones stand in a vector of their own before the nibbles.
template <class S, int c>
COLIBRI_INLINE typename S::Bytes five_bit_columns(const uint8_t* vectors, int64_t next) {
  return S::or_bytes(nibble_columns<S, c>(vectors + 32, next),
                     one_bit_columns<S, c, 4>(vectors, next));
}
template <class Codec, uint32_t id, int less, Offset offset = Offset::kNone>
struct FiveBitCodec : CodecParts<Codec, id, offset> {
  static constexpr int kMost = 31;
  static constexpr int kLess = less;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return five_bit_columns<S, c>(part, next);
  }
};
struct Q5_0Weights : FiveBitCodec<Q5_0Weights, COLIBRI_CODEC_Q5_0, 16> {};
struct Q5_1Weights : FiveBitCodec<Q5_1Weights, COLIBRI_CODEC_Q5_1, 0, Offset::kOfPart> {};

// Nibbles that stand for levels (codec.h).
alignas(16) inline constexpr int8_t kLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                   1,    13,   25,  38,  53,  69,  89,  113};
template <class S, int c>
COLIBRI_INLINE typename S::Bytes level_columns(const uint8_t* vectors, int64_t next) {
  return S::lookup(S::load_table(kLevels), nibble_columns<S, c>(vectors, next));
}
struct Iq4NlWeights : CodecParts<Iq4NlWeights, COLIBRI_CODEC_IQ4_NL> {
  static constexpr bool kSigned = true;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return level_columns<S, c>(part, next);
  }
};

// Twice an fp4 value is an integer from -12 to 12, and 12 more than that is not negative.
alignas(16) inline constexpr int8_t kTwiceFp4And12[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                                          12, 11, 10, 9,  8,  6,  4,  0};
struct Mxfp4Weights : CodecParts<Mxfp4Weights, COLIBRI_CODEC_MXFP4> {
  static constexpr int kMost = 24;
  static constexpr int kLess = 12;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return S::lookup(S::load_table(kTwiceFp4And12), nibble_columns<S, c>(part, next));
  }
  template <class S>
  static COLIBRI_INLINE Head<S> head(const uint8_t* block, int64_t next) {
    const typename S::F power = S::load_panels_e8(block, next);
    return {S::fnma(power, S::set(0.5f), power), S::zero()};  // half of it, NaN of infinity
  }
};

}  // namespace colibri::cpu
