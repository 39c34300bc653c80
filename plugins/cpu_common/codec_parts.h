// SPDX-License-Identifier: Apache-2.0
// What the quantised codecs share: how the fields of their R8 blocks (kernels.h) are taken apart, and
// what the float step of a product gets (quantised_product.h).
#pragma once

#include <cstdint>

#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/part_dots.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

enum class Offset {
  kNone,
  kOfPart,   // the same for all 32 columns
  kOfHalves  // times an integer for each 16 of them
};

// f16 numbers at the head of a block, the second only where there are two.
template <class S>
struct Head {
  typename S::F d;
  typename S::F m;
};

// Of one part: dots are multiplied by `scale`, sums of x by `offset`. Only kOfHalves has the pairs
// of integers, which multiply the two sums of x before that.
template <class S>
struct Scales {
  typename S::F scale;
  typename S::F offset;
  typename S::I halves;
};

// What a codec is to quantised_product.h: its block, how its weights are offset, and four functions.
// A codec derives from it and adds
//   kMost, kLess                 its integers are from 0 to kMost, less kLess (part_dots.h); or
//   kSigned = true               they are signed bytes
//   columns<S, c>(part, next)    those integers
//   factors<S>(part, next)       if each half of a part has an integer factor
// and its own head() or scales() where these are not those of the file's d and m.
template <class Codec, uint32_t id, Offset offset = Offset::kNone>
struct CodecParts {
  static constexpr PanelBlock kBlock = panel_block(id);
  static constexpr Offset kOffset = offset;
  static constexpr bool kSigned = false;

  template <class S>
  static COLIBRI_INLINE Head<S> head(const uint8_t* block, int64_t next) {
    if constexpr (offset == Offset::kNone) return {S::load_panels_f16(block, next), S::zero()};
    return {S::load_panels_f16(block, next), S::load_panels_f16(block + 16, next)};
  }
  template <class S, int P, int T>
  static COLIBRI_INLINE void dots(const uint8_t* const (&part)[P], int64_t next, PartInput x,
                                  typename S::I (&dot)[P][T]) {
    if constexpr (Codec::kSigned) {
      signed_dots<Codec, S>(part, next, x, dot);
    } else if constexpr (HalfScaled<Codec, S>) {
      scaled_dots<Codec, S>(part, next, x, dot);
    } else {
      unsigned_dots<Codec, S>(part, next, x, dot);
    }
  }
  template <class S>
  static COLIBRI_INLINE Scales<S> scales(Head<S> head, const uint8_t*, int64_t) {
    return {head.d, head.m, S::zero_i()};
  }
};

// Group c of columns out of 4 vectors of nibbles: the first half of the part is low, the second high.
template <class S, int c>
COLIBRI_INLINE typename S::Bytes nibble_columns(const uint8_t* vectors, int64_t next) {
  return S::template field<c / 4 * 4>(S::load_panels(vectors + 32 * (c % 4), next), 15);
}
// The same out of 2 vectors of two bits, moved up to bit `to`.
template <class S, int c, int to>
COLIBRI_INLINE typename S::Bytes two_bit_columns(const uint8_t* vectors, int64_t next) {
  return S::template field<c % 4 * 2 - to>(S::load_panels(vectors + c / 4 * 32, next), 3 << to);
}
// The same out of one vector of single bits.
template <class S, int c, int to>
COLIBRI_INLINE typename S::Bytes one_bit_columns(const uint8_t* vector, int64_t next) {
  return S::template field<c - to>(S::load_panels(vector, next), 1 << to);
}

}  // namespace colibri::cpu
