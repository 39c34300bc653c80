// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// Pairs (a[i], b[i]) become (a cos - b sin, b cos + a sin).
template <class S>
COLIBRI_INLINE void rotate(float* a, float* b, const float* cosine, const float* sine, int64_t n) {
  for (int64_t i = 0; i < n; i += S::kLanes) {
    const int64_t left = std::min<int64_t>(S::kLanes, n - i);
    const typename S::F x = S::load_first(a + i, left);
    const typename S::F y = S::load_first(b + i, left);
    const typename S::F c = S::load_first(cosine + i, left);
    const typename S::F s = S::load_first(sine + i, left);
    S::store_first(a + i, S::sub(S::mul(x, c), S::mul(y, s)), left);
    S::store_first(b + i, S::add(S::mul(y, c), S::mul(x, s)), left);
  }
}

// The same for pairs that stand next to each other.
static COLIBRI_INLINE void rotate_interleaved(float* pairs, const float* cosine, const float* sine,
                                              int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float x = pairs[2 * i];
    const float y = pairs[2 * i + 1];
    pairs[2 * i] = x * cosine[i] - y * sine[i];
    pairs[2 * i + 1] = y * cosine[i] + x * sine[i];
  }
}

template <class S>
colibri_status run_rope(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_rope_args*>(arguments);
  const auto& a = state.rope;
  const int64_t pairs = a.dims / 2;
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const int64_t position = call.position[row];
    if (position < 0) return COLIBRI_INVALID_ARGUMENT;
    const float* cosine = call.cosine + position * pairs;
    const float* sine = call.sine + position * pairs;
    for (int64_t head = 0; head < a.heads; ++head) {
      float* x = f32_row(call.x, row) + head * a.head_dim + a.first;
      if (a.style == COLIBRI_ROPE_HALF) {
        rotate<S>(x, x + pairs, cosine, sine, pairs);
      } else {
        rotate_interleaved(x, cosine, sine, pairs);
      }
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
