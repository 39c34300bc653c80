// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/operators.h"

namespace colibri::cpu_generic {

// output = residual + sum over slots, in order, of (weight * scale) * row
colibri_status combine(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_combine_args*>(arguments);
  const int64_t slots = state.combine.slots;
  const int64_t cols = call.output.shape[1];
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    float* out = cpu::f32_row(call.output, row);
    const float* residual = cpu::f32_row(call.residual, row);
    for (int64_t i = 0; i < cols; ++i) out[i] = residual[i];
    for (int64_t index = row * slots; index < (row + 1) * slots; ++index) {
      const int64_t from = cpu::indexed(call.row_index, index);
      if (from < 0 || from >= call.row.shape[0]) return COLIBRI_INVALID_ARGUMENT;
      const float weight =
          (call.weight == nullptr ? 1.0f : call.weight[index]) * state.combine.scale;
      const float* added = cpu::f32_row(call.row, from);
      for (int64_t i = 0; i < cols; ++i) out[i] = std::fma(weight, added[i], out[i]);
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
