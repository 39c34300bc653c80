// SPDX-License-Identifier: Apache-2.0
// Codecs whose block is 8 parts of 32 columns, each with integer scales of its own.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/codec_parts.h"
#include "plugins/cpu_common/plain_codecs.h"

namespace colibri::cpu {

// Whose weights have a factor of m that comes off: the head holds -m.
template <class S>
COLIBRI_INLINE Head<S> head_with_least(const uint8_t* block, int64_t next) {
  return {S::load_panels_f16(block, next), S::negate(S::load_panels_f16(block + 16, next))};
}

// q4_K and q5_K; of a part int8 scale[8] and least[8]: w = (d scale) q - m least
template <class Codec, uint32_t id>
struct ScaleAndLeast : CodecParts<Codec, id, Offset::kOfPart> {
  static constexpr int kLess = 0;
  template <class S>
  static COLIBRI_INLINE Head<S> head(const uint8_t* block, int64_t next) {
    return head_with_least<S>(block, next);
  }
  template <class S>
  static COLIBRI_INLINE Scales<S> scales(Head<S> head, const uint8_t* part, int64_t next) {
    return {S::mul(head.d, S::load_panels_i8(part, next)),
            S::mul(head.m, S::load_panels_i8(part + 8, next)), S::zero_i()};
  }
};

struct Q4_KWeights : ScaleAndLeast<Q4_KWeights, COLIBRI_CODEC_Q4_K> {
  static constexpr int kMost = 15;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return nibble_columns<S, c>(part + 16, next);
  }
};

struct Q5_KWeights : ScaleAndLeast<Q5_KWeights, COLIBRI_CODEC_Q5_K> {
  static constexpr int kMost = 31;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return five_bit_columns<S, c>(part + 16, next);
  }
};

// d times a factor of each half
struct Q6_KWeights : CodecParts<Q6_KWeights, COLIBRI_CODEC_Q6_K> {
  static constexpr int kMost = 63;
  static constexpr int kLess = 32;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return S::or_bytes(nibble_columns<S, c>(part + 80, next),
                       two_bit_columns<S, c, 4>(part + 16, next));
  }
  template <class S>
  static COLIBRI_INLINE typename S::I factors(const uint8_t* part, int64_t next) {
    return S::load_pairs_i8(part, next);
  }
};

struct Q3_KWeights : CodecParts<Q3_KWeights, COLIBRI_CODEC_Q3_K> {
  static constexpr int kMost = 7;
  static constexpr int kLess = 4;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return S::or_bytes(two_bit_columns<S, c, 0>(part + 48, next),
                       one_bit_columns<S, c, 2>(part + 16, next));
  }
  template <class S>
  static COLIBRI_INLINE typename S::I factors(const uint8_t* part, int64_t next) {
    return S::load_pairs_i8(part, next);
  }
};

// Of each half: factor of d in the low nibble, factor of m, which comes off, in the high one.
struct Q2_KWeights : CodecParts<Q2_KWeights, COLIBRI_CODEC_Q2_K, Offset::kOfHalves> {
  static constexpr int kMost = 3;
  static constexpr int kLess = 0;
  template <class S>
  static COLIBRI_INLINE Head<S> head(const uint8_t* block, int64_t next) {
    return head_with_least<S>(block, next);
  }
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return two_bit_columns<S, c, 0>(part + 16, next);
  }
  template <class S>
  static COLIBRI_INLINE typename S::I factors(const uint8_t* part, int64_t next) {
    return S::template pair_field<0>(S::load_pairs_i8(part, next), 15);
  }
  template <class S>
  static COLIBRI_INLINE Scales<S> scales(Head<S> head, const uint8_t* part, int64_t next) {
    return {head.d, head.m, S::template pair_field<4>(S::load_pairs_i8(part, next), 15)};
  }
};

// int8 scale[8] of a part: w = (d scale) level(nibble)
struct Iq4XsWeights : CodecParts<Iq4XsWeights, COLIBRI_CODEC_IQ4_XS> {
  static constexpr bool kSigned = true;
  template <class S, int c>
  static COLIBRI_INLINE typename S::Bytes columns(const uint8_t* part, int64_t next) {
    return level_columns<S, c>(part + 8, next);
  }
  template <class S>
  static COLIBRI_INLINE Scales<S> scales(Head<S> head, const uint8_t* part, int64_t next) {
    return {S::mul(head.d, S::load_panels_i8(part, next)), S::zero(), S::zero_i()};
  }
};

}  // namespace colibri::cpu
