// SPDX-License-Identifier: Apache-2.0
// Products of q8_32 rows with q8_0 or q4_0 weights in layout R8: the dot of a block of 32 columns
// is an exact int32, then acc = fma(float(dot), d_w * d_x, acc), blocks ascending; lanes are output
// columns.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

struct Q8_0Weights {
  static constexpr int64_t kBlockBytes = 272;

  // dot[p][t] = the exact dots of the block with scales at w[p] and token t's bytes at x + 32 t.
  template <class S, int P, int T>
  static COLIBRI_INLINE void dots(const uint8_t* const (&w)[P], int64_t next, const int8_t* x,
                                  const int32_t* sum_of_x, typename S::I (&dot)[P][T]) {
    typename S::SumS8 sums[P][T];
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) sums[p][t] = S::zero_s8();
    }
    COLIBRI_UNROLL
    for (int v = 0; v < 8; ++v) {
      typename S::Bytes panel[P];
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) panel[p] = S::load_panels(w[p] + 16 + 32 * v, next);
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) {
        const typename S::Bytes four = S::broadcast(x + 32 * t + 4 * v);
        COLIBRI_UNROLL
        for (int p = 0; p < P; ++p) sums[p][t] = S::dot_s8(sums[p][t], panel[p], four);
      }
    }
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) dot[p][t] = S::total(sums[p][t], sum_of_x[t]);
    }
  }
};

struct Q4_0Weights {
  static constexpr int64_t kBlockBytes = 144;

  // As above. A nibble is q + 8, so 8 times the sum of x comes off.
  template <class S, int P, int T>
  static COLIBRI_INLINE void dots(const uint8_t* const (&w)[P], int64_t next, const int8_t* x,
                                  const int32_t* sum_of_x, typename S::I (&dot)[P][T]) {
    typename S::SumU4 sums[P][T];
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) sums[p][t] = S::zero_u4();
    }
    COLIBRI_UNROLL
    for (int v = 0; v < 4; ++v) {
      typename S::Bytes low[P];
      typename S::Bytes high[P];
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) {
        const typename S::Bytes both = S::load_panels(w[p] + 16 + 32 * v, next);
        low[p] = S::low_nibbles(both);
        high[p] = S::high_nibbles(both);
      }
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) {
        const typename S::Bytes first = S::broadcast(x + 32 * t + 4 * v);
        COLIBRI_UNROLL
        for (int p = 0; p < P; ++p) sums[p][t] = S::dot_u4(sums[p][t], low[p], first);
        const typename S::Bytes second = S::broadcast(x + 32 * t + 16 + 4 * v);
        COLIBRI_UNROLL
        for (int p = 0; p < P; ++p) sums[p][t] = S::dot_u4(sums[p][t], high[p], second);
      }
    }
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t)
        dot[p][t] = S::sub_i(S::total(sums[p][t]), S::set_i(8 * sum_of_x[t]));
    }
  }
};

template <class S, class Codec>
struct QuantisedProduct {
  using Simd = S;
  // Prepared rows, gathered so that a block of `width` tokens stands together: block b of token t
  // is at (tile of `width` tokens, b, t). A single row as it is has width 1.
  struct Tokens {
    const int8_t* q;
    const float* scale;
    const int32_t* sum;
    int64_t width;
    int64_t blocks;

    Tokens from(int64_t t) const {
      return {q + t * blocks * 32, scale + t * blocks, sum + t * blocks, width, blocks};
    }
  };

  static int64_t panel_bytes(int64_t cols) { return cols / 32 * Codec::kBlockBytes; }

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
    const int8_t* q = tokens.q;
    const float* scale = tokens.scale;
    const int32_t* sum = tokens.sum;
    for (int64_t block = 0; block < cols / 32; ++block) {
      typename S::I dot[P][T];
      Codec::template dots<S, P, T>(at, next, q, sum, dot);
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) {
        const typename S::F d = S::load_panels_f16(at[p], next);
        COLIBRI_UNROLL
        for (int t = 0; t < T; ++t) {
          acc[p][t] = S::fma(S::to_float(dot[p][t]), S::mul(d, S::set(scale[t])), acc[p][t]);
        }
        at[p] += Codec::kBlockBytes;
      }
      q += 32 * tokens.width;
      scale += tokens.width;
      sum += tokens.width;
    }
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) S::store(sums[p][t], acc[p][t]);
    }
  }
};

}  // namespace colibri::cpu
