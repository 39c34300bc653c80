// SPDX-License-Identifier: Apache-2.0
// Residual rows plus weighted rows, slot by slot.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// Where a slot's row of this (row, slot) stands; -1 if outside.
static COLIBRI_INLINE int64_t combined_row(const colibri_combine_args& call, int64_t index) {
  const int64_t row = indexed(call.row_index, index);
  return row < 0 || row >= call.row.shape[0] ? -1 : row;
}

template <class S>
COLIBRI_INLINE void add_scaled(float* sum, const float* row, float weight, int64_t n) {
  int64_t i = 0;
  for (; i + S::kLanes <= n; i += S::kLanes) {
    S::store(sum + i, S::fma(S::set(weight), S::load(row + i), S::load(sum + i)));
  }
  if (i == n) return;
  const int64_t left = n - i;
  S::store_first(sum + i,
                 S::fma(S::set(weight), S::load_first(row + i, left), S::load_first(sum + i, left)),
                 left);
}

template <class S>
colibri_status run_combine(const OperatorState& state, const void* arguments, TaskRange tasks,
                           void*) {
  const auto& call = *static_cast<const colibri_combine_args*>(arguments);
  const int64_t slots = state.combine.slots;
  const int64_t cols = call.output.shape[1];
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    float* out = f32_row(call.output, row);
    const float* residual = f32_row(call.residual, row);
    if (out != residual) std::copy_n(residual, cols, out);
    for (int64_t slot = 0; slot < slots; ++slot) {
      const int64_t index = row * slots + slot;
      const int64_t from = combined_row(call, index);
      if (from < 0) return COLIBRI_INVALID_ARGUMENT;
      const float weight =
          (call.weight == nullptr ? 1.0f : call.weight[index]) * state.combine.scale;
      add_scaled<S>(out, f32_row(call.row, from), weight, cols);
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
