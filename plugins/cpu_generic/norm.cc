// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "plugins/cpu_common/scalar_epilogue.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/lane_sum.h"
#include "plugins/cpu_generic/operators.h"
#include "plugins/cpu_generic/prepare_block.h"

namespace colibri::cpu_generic {

// output = (x * (1 / sqrt(mean(x^2) + eps))) * weight (Zhang and Sennrich 2019), in f64, clamped
colibri_status norm(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_norm_args*>(arguments);
  const auto* weight = reinterpret_cast<const float*>(cpu::tensor_bytes(call.weight));
  const int64_t n = state.cols;
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const float* x = cpu::f32_row(call.input, row);
    LaneSum<double> squares;
    for (int64_t i = 0; i < n; ++i) squares.add(i, static_cast<double>(x[i]) * x[i]);
    const double mean = squares.total() / static_cast<double>(n);
    const double scale = 1 / std::sqrt(mean + static_cast<double>(state.norm.eps));
    const auto number = [&](int64_t i) {
      return cpu::clamped(static_cast<float>(x[i] * scale * weight[i]), state.norm.clamp);
    };

    if (state.norm.output_dtype == COLIBRI_CODEC_F32) {
      float* out = cpu::f32_row(call.output, row);
      for (int64_t i = 0; i < n; ++i) out[i] = number(i);
      continue;
    }
    const cpu::PreparedRow out = cpu::prepared_row(cpu::tensor_row(call.output, row), n);
    for (int64_t block = 0; block < n / 32; ++block) {
      float values[32];
      for (int64_t i = 0; i < 32; ++i) values[i] = number(block * 32 + i);
      prepare_block(values, out, block);
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
