// SPDX-License-Identifier: Apache-2.0
// Products of q8_32 rows with quantised weights in layout R8. For each part of 32 columns, ascending:
// an exact int32 dot of each row, then acc = fma(float(dot), scale * d_x, acc); with an offset also
// acc = fma(offset, float(sum of x) * d_x, acc). Lanes are output columns.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/codec_parts.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

// The float step of a part for one panel vector. unit[t] is d_x of the token; sum[t] is its float(sum
// of x) * d_x, used with Offset::kOfPart only.
template <class Codec, class S, int T>
COLIBRI_INLINE void add_dots(Scales<S> scales, const typename S::I (&dot)[T],
                             const int16_t* sum_of_x, const typename S::F (&unit)[T],
                             const typename S::F (&sum)[T], typename S::F (&acc)[T]) {
  COLIBRI_UNROLL
  for (int t = 0; t < T; ++t) {
    acc[t] = S::fma(S::to_float(dot[t]), S::mul(scales.scale, unit[t]), acc[t]);
    if constexpr (Codec::kOffset == Offset::kOfPart) acc[t] = S::fma(scales.offset, sum[t], acc[t]);
    if constexpr (Codec::kOffset == Offset::kOfHalves) {
      const typename S::I both = S::dot_pairs(scales.halves, S::two_i16(sum_of_x + 2 * t));
      acc[t] = S::fma(scales.offset, S::mul(S::to_float(both), unit[t]), acc[t]);
    }
  }
}

// Codec is one of plain_codecs.h or k_codecs.h.
template <class S, class Codec>
struct QuantisedProduct {
  using Simd = S;
  // Prepared rows, gathered so that a part of `width` tokens stands together: part b of token t is
  // at (tile of `width` tokens, b, t). A single row as it is has width 1.
  struct Tokens {
    const int8_t* q;
    const float* scale;
    const int16_t* sum;
    int64_t width;
    int64_t parts;

    Tokens from(int64_t t) const {
      return {q + t * parts * 32, scale + t * parts, sum + t * parts * 2, width, parts};
    }
  };

  static constexpr int kTileTokens = 4;  // Tokens::width

  static int64_t panel_bytes(int64_t cols) {
    return cols / Codec::kBlock.cols * Codec::kBlock.bytes();
  }

  // Asks for the lines [asked, done) of the vectors behind the P that are being used.
  template <int P>
  static COLIBRI_INLINE int64_t ask_ahead(const uint8_t* const (&w)[P], int64_t next, int64_t asked,
                                          int64_t done) {
    for (; asked < done; asked += 64) {
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) {
        COLIBRI_UNROLL
        for (int q = 0; q < S::kPanels; ++q) ask_for_line(w[p] + (S::kPanels + q) * next + asked);
      }
    }
    return asked;
  }

  // sums[p][t] = panel vector p times token t; the tokens are one tile.
  template <int P, int T>
  static void tile(const uint8_t* const (&w)[P], int64_t next, Tokens tokens, int64_t cols,
                   float (&sums)[P][T][S::kLanes]) {
    typename S::F acc[P][T];
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) acc[p][t] = S::zero();
    }
    const uint8_t* at[P];
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) at[p] = w[p];
    const float* unit_of_x = tokens.scale;
    PartInput x = {tokens.q, tokens.sum};
    int64_t asked = 0;
    for (int64_t block = 0; block < cols / Codec::kBlock.cols; ++block) {
      Head<S> head[P];
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) {
        head[p] = Codec::template head<S>(at[p], next);
        at[p] += Codec::kBlock.head;
      }
      for (int64_t part = 0; part < Codec::kBlock.parts(); ++part) {
        typename S::I dot[P][T];
        Codec::template dots<S, P, T>(at, next, x, dot);
        typename S::F unit[T];
        typename S::F sum[T];
        COLIBRI_UNROLL
        for (int t = 0; t < T; ++t) {
          unit[t] = S::set(unit_of_x[t]);
          const typename S::I both = S::dot_pairs(S::set_pair(1), S::two_i16(x.sum + 2 * t));
          sum[t] = S::mul(S::to_float(both), unit[t]);
        }
        COLIBRI_UNROLL
        for (int p = 0; p < P; ++p) {
          add_dots<Codec, S, T>(Codec::template scales<S>(head[p], at[p], next), dot[p], x.sum,
                                unit, sum, acc[p]);
          at[p] += Codec::kBlock.part;
        }
        asked = ask_ahead(w, next, asked, at[0] - w[0]);
        x.q += 32 * tokens.width;
        x.sum += 2 * tokens.width;
        unit_of_x += tokens.width;
      }
    }
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) S::store(sums[p][t], acc[p][t]);
    }
  }
};

}  // namespace colibri::cpu
