// SPDX-License-Identifier: Apache-2.0
// Sums of float products in the order of docs/numerics.md ("Chain sum"): chains of 8 products are
// added up in blocks of 64, and so are the blocks. No rounding is that of one long sum.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

constexpr int64_t kChain = 8;
constexpr int64_t kChainBlock = 64;

// sums[p][t] += chain[p][t], which fill(chain) makes. The sums stand in memory, since the chains and
// what they are made of fill the registers.
template <class S, int P, int T, class Fill>
COLIBRI_INLINE void add_chain(float (&sums)[P][T][S::kLanes], Fill fill) {
  typename S::F chain[P][T];
  COLIBRI_UNROLL
  for (int p = 0; p < P; ++p) {
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) chain[p][t] = S::zero();
  }
  fill(chain);
  COLIBRI_UNROLL
  for (int p = 0; p < P; ++p) {
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) S::store(sums[p][t], S::add(S::load(sums[p][t]), chain[p][t]));
  }
}

// sums[p][t] = the chain sum of n products, for P x T vectors at a time. step(chain, k) is
// chain[p][t] = fma of product k of each.
template <class S, int P, int T, class Step>
COLIBRI_INLINE void chain_sum(int64_t n, float (&sums)[P][T][S::kLanes], Step step) {
  COLIBRI_UNROLL
  for (int p = 0; p < P; ++p) {
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) S::store(sums[p][t], S::zero());
  }
  for (int64_t begin = 0; begin < n; begin += kChainBlock) {
    const int64_t end = begin + kChainBlock < n ? begin + kChainBlock : n;
    alignas(64) float block[P][T][S::kLanes] = {};
    int64_t k = begin;
    for (; k + kChain <= end; k += kChain) {
      add_chain<S>(block, [&](typename S::F(&chain)[P][T]) COLIBRI_INLINE_LAMBDA {
        COLIBRI_UNROLL
        for (int64_t i = 0; i < kChain; ++i) step(chain, k + i);
      });
    }
    if (k < end) {
      add_chain<S>(block, [&](typename S::F(&chain)[P][T]) COLIBRI_INLINE_LAMBDA {
        for (; k < end; ++k) step(chain, k);
      });
    }
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t)
        S::store(sums[p][t], S::add(S::load(sums[p][t]), S::load(block[p][t])));
    }
  }
}

}  // namespace colibri::cpu
