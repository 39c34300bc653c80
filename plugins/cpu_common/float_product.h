// SPDX-License-Identifier: Apache-2.0
// Products of f32 rows with f32, f16 or bf16 weights in layout R8: lanes are output columns, one
// chain sum each.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/chain_sum.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

struct F32Weights {
  static constexpr int64_t kBytes = 4;
  template <class S>
  static COLIBRI_INLINE typename S::F load(const uint8_t* p, int64_t next) {
    return S::load_panels_f32(p, next);
  }
};
struct F16Weights {
  static constexpr int64_t kBytes = 2;
  template <class S>
  static COLIBRI_INLINE typename S::F load(const uint8_t* p, int64_t next) {
    return S::load_panels_f16(p, next);
  }
};
struct Bf16Weights {
  static constexpr int64_t kBytes = 2;
  template <class S>
  static COLIBRI_INLINE typename S::F load(const uint8_t* p, int64_t next) {
    return S::load_panels_bf16(p, next);
  }
};

// One of the two kinds of product that product_panels() walks over panels (the other:
// quantised_product.h).
template <class S, class Codec>
struct FloatProduct {
  using Simd = S;
  // Rows of activations: row t of the tokens is rows[t].
  struct Tokens {
    const float* const* rows;
    Tokens from(int64_t t) const { return {rows + t}; }
  };

  // Tokens of one tile: where registers are many, more of them for each panel that is read.
  static constexpr int kTileTokens = S::kLanes == 16 ? 8 : 4;

  static int64_t panel_bytes(int64_t cols) { return cols * 8 * Codec::kBytes; }

  // sums[p][t] = panel vector p times token t.
  template <int P, int T>
  static void tile(const uint8_t* const (&w)[P], int64_t next, Tokens tokens, int64_t cols,
                   float (&sums)[P][T][S::kLanes]) {
    const float* x[T];
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) x[t] = tokens.rows[t];
    chain_sum<S>(cols, sums, [&](typename S::F(&chain)[P][T], int64_t k) COLIBRI_INLINE_LAMBDA {
      typename S::F panel[P];
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p)
        panel[p] = Codec::template load<S>(w[p] + k * 8 * Codec::kBytes, next);
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) {
        const typename S::F value = S::set(x[t][k]);
        COLIBRI_UNROLL
        for (int p = 0; p < P; ++p) chain[p][t] = S::fma(value, panel[p], chain[p][t]);
      }
    });
  }
};

}  // namespace colibri::cpu
