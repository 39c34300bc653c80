// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/scalar_epilogue.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/chain_sum.h"
#include "plugins/cpu_generic/operators.h"
#include "plugins/cpu_generic/packed_matrix.h"
#include "plugins/cpu_generic/prepare_block.h"

namespace colibri::cpu_generic {
namespace {

// One output of a float weight.
float float_dot(const PackedMatrix& weight, int64_t column, const float* x) {
  return chain_sum(weight.cols, x, [&](int64_t k) { return weight.number(column, k); });
}

// One output of a quantised weight: the dots of a part of 32 columns are exact integers, parts
// ascending.
float quantised_dot(const PackedMatrix& weight, int64_t column, const cpu::PreparedRow& x) {
  float sum = 0;
  for (int64_t i = 0; i < weight.cols / 32; ++i) {
    const cpu::PackedPart w = weight.part(column, i);
    int32_t dot = 0;
    for (int64_t k = 0; k < 32; ++k) dot += w.factor[k / 16] * w.q[k] * x.q[i * 32 + k];
    sum = std::fma(static_cast<float>(dot), w.scale * x.scale[i], sum);
    if (!w.has_offset) continue;
    const int32_t offsets = w.least[0] * x.sum[2 * i] + w.least[1] * x.sum[2 * i + 1];
    sum = std::fma(w.offset, static_cast<float>(offsets) * x.scale[i], sum);
  }
  return sum;
}

// The rows of a part of a product, and the weights of its group.
class Part {
 public:
  Part(const OperatorState& state, const colibri_grouped_matmul_args& call, cpu::ProductPart part)
      : state_(state),
        call_(call),
        part_(part),
        gated_(state.grouped_matmul.epilogue == COLIBRI_EPILOGUE_GATED) {
    for (int64_t i = 0; i <= (gated_ ? 1 : 0); ++i) {
      const colibri_tensor& weight = call.weight[part.group * call.weights_per_group + i];
      weights_[i] = {cpu::packed_weight(state, weight), state.weight_codec, state.cols};
      if (state.grouped_matmul.bias == 1)
        bias_[i] = cpu::bias_numbers(state, call.bias[part.group * call.weights_per_group + i]);
    }
  }

  colibri_status run() const {
    for (int i = 0; i <= (gated_ ? 1 : 0); ++i) {
      const bool has_bias = bias_[i] != nullptr || state_.grouped_matmul.bias == 0;
      if (weights_[i].bytes == nullptr || !has_bias) return COLIBRI_INVALID_ARGUMENT;
    }
    for (int64_t row = part_.row_begin; row < part_.row_end; ++row) {
      const int64_t input_row = cpu::indexed(call_.row_index, row);
      const int64_t output_row = cpu::indexed(call_.output_index, row);
      if (input_row < 0 || input_row >= call_.input.shape[0] || output_row < 0 ||
          output_row >= call_.output.shape[0])
        return COLIBRI_INVALID_ARGUMENT;
      write_row(output_row, cpu::tensor_row(call_.input, input_row));
    }
    return COLIBRI_OK;
  }

 private:
  float product(int which, int64_t column, uint8_t* input) const {
    const PackedMatrix& weight = weights_[which];
    const float dot = state_.grouped_matmul.input_dtype == COLIBRI_CODEC_F32
                          ? float_dot(weight, column, reinterpret_cast<const float*>(input))
                          : quantised_dot(weight, column, cpu::prepared_row(input, state_.cols));
    return state_.grouped_matmul.bias == 1 ? dot + bias_[which][column] : dot;
  }

  float output(int64_t column, uint8_t* input) const {
    const float sums[2] = {product(0, column, input), gated_ ? product(1, column, input) : 0};
    return cpu::finished(state_.grouped_matmul, *state_.math, sums);
  }

  void write_row(int64_t row, uint8_t* input) const {
    const int64_t begin = part_.panel_begin * 8;
    const int64_t end = std::min(part_.panel_end * 8, state_.rows);
    if (state_.grouped_matmul.output_dtype == COLIBRI_CODEC_F32) {
      float* out = cpu::f32_row(call_.output, row);
      for (int64_t column = begin; column < end; ++column) out[column] = output(column, input);
      return;
    }
    const cpu::PreparedRow out = cpu::prepared_row(cpu::tensor_row(call_.output, row), state_.rows);
    for (int64_t block = begin / 32; block < end / 32; ++block) {
      float values[32];
      for (int64_t i = 0; i < 32; ++i) values[i] = output(block * 32 + i, input);
      prepare_block(values, out, block);
    }
  }

  const OperatorState& state_;
  const colibri_grouped_matmul_args& call_;
  cpu::ProductPart part_;
  bool gated_;
  PackedMatrix weights_[2];
  const float* bias_[2] = {};  // nullptr = none
};

}  // namespace

// output[output_index[i]] = act(weight[group of i] * input[row_index[i]] + bias), or the gated
// product of two such
colibri_status grouped_matmul(const OperatorState& state, const void* arguments, TaskRange tasks,
                              void*) {
  const auto& call = *static_cast<const colibri_grouped_matmul_args*>(arguments);
  return cpu::for_each_part(state, call, tasks,
                            [&](cpu::ProductPart part) { return Part(state, call, part).run(); });
}

}  // namespace colibri::cpu_generic
