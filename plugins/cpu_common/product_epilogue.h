// SPDX-License-Identifier: Apache-2.0
// What is done to products before they are written: bias, activation, gate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "colibri/kernels.h"
#include "plugins/cpu_common/vector_math.h"

namespace colibri::cpu {

// values[i] = change(values[i], other[i]) for `count` numbers, a vector at a time.
template <class S, class Change>
COLIBRI_INLINE void change_all(float* values, const float* other, int64_t count, Change change) {
  for (int64_t i = 0; i < count; i += S::kLanes) {
    const int64_t n = std::min<int64_t>(S::kLanes, count - i);
    const typename S::F x = S::load_first(values + i, n);
    S::store_first(values + i, change(x, S::load_first(other + i, n)), n);
  }
}

template <class S>
void add_bias(float* values, const float* bias, int64_t count) {
  change_all<S>(values, bias, count, [](typename S::F x, typename S::F b) COLIBRI_INLINE_LAMBDA {
    return S::add(x, b);
  });
}

// x, at most `limit` away from 0; in this order NaN stays NaN.
template <class S>
COLIBRI_INLINE typename S::F clamped(typename S::F x, float limit) {
  return S::max(S::set(-limit), S::min(S::set(limit), x));
}

template <class S>
void clamp_epilogue(float* values, float limit, int64_t count) {
  change_all<S>(values, values, count, [&](typename S::F x, typename S::F) COLIBRI_INLINE_LAMBDA {
    return clamped<S>(x, limit);
  });
}

template <class S>
void sigmoid_epilogue(float* values, int64_t count) {
  change_all<S>(values, values, count,
                [](typename S::F x, typename S::F) COLIBRI_INLINE_LAMBDA { return sigmoid<S>(x); });
}

// gate = act(gate) * up
template <class S>
void gated_epilogue(const colibri_grouped_matmul_attributes& a, float* gate, const float* up,
                    int64_t count) {
  using F = typename S::F;
  const float alpha = a.alpha == 0 ? 1 : a.alpha;
  change_all<S>(gate, up, count, [&](F g, F u) COLIBRI_INLINE_LAMBDA {
    if (a.clamp != 0) {
      g = S::min(S::set(a.clamp), g);  // as clamped()
      u = clamped<S>(u, a.clamp);
    }
    if (a.activation == COLIBRI_ACTIVATION_SILU) g = silu<S>(g, alpha);
    if (a.up_offset != 0) u = S::add(u, S::set(a.up_offset));
    return S::mul(g, u);
  });
}

}  // namespace colibri::cpu
