// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/operators.h"
#include "plugins/cpu_generic/prepare_block.h"

namespace colibri::cpu_generic {

// f32 rows to their prepared form q8_32
colibri_status quantize_rows(const OperatorState&, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_quantize_rows_args*>(arguments);
  const int64_t cols = call.input.shape[1];
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const cpu::PreparedRow out = cpu::prepared_row(cpu::tensor_row(call.output, row), cols);
    const float* x = cpu::f32_row(call.input, row);
    for (int64_t block = 0; block < cols / 32; ++block) prepare_block(x + block * 32, out, block);
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
