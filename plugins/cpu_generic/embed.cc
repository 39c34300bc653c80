// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/operators.h"
#include "plugins/cpu_generic/packed_matrix.h"

namespace colibri::cpu_generic {

// output[row] = scale * table[ids[row]]
colibri_status embed(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_embed_args*>(arguments);
  const PackedMatrix table = {cpu::packed_weight(state, call.table), state.weight_codec,
                              state.cols};
  const auto* ids = reinterpret_cast<const int32_t*>(cpu::tensor_bytes(call.ids));
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const int64_t id = ids[row];
    if (id < 0 || id >= state.rows) return COLIBRI_INVALID_ARGUMENT;
    float* out = cpu::f32_row(call.output, row);
    for (int64_t i = 0; i < state.cols; ++i) out[i] = state.embed.scale * table.number(id, i);
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
