// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/operators.h"
#include "plugins/cpu_generic/packed_matrix.h"
#include "plugins/cpu_generic/prepare_block.h"

namespace colibri::cpu_generic {
namespace {

// One output of a float weight: one sum, k ascending.
float float_dot(const PackedMatrix& weight, int64_t column, const float* x) {
  float sum = 0;
  for (int64_t k = 0; k < weight.cols; ++k) sum = std::fma(x[k], weight.number(column, k), sum);
  return sum;
}

// One output of a quantised weight: the dot of a block is an exact integer, blocks ascending.
float quantised_dot(const PackedMatrix& weight, int64_t column, const cpu::PreparedRow& x) {
  float sum = 0;
  for (int64_t block = 0; block < weight.cols / 32; ++block) {
    int32_t dot = 0;
    for (int64_t k = block * 32; k < block * 32 + 32; ++k) dot += weight.quant(column, k) * x.q[k];
    sum = std::fma(static_cast<float>(dot), weight.scale(column, block) * x.scale[block], sum);
  }
  return sum;
}

float activate(const OperatorState& state, float x) {
  if (state.grouped_matmul.activation == COLIBRI_ACTIVATION_NONE) return x;
  return x / (1 + state.math->exp(-x));  // silu
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
    }
  }

  colibri_status run() const {
    if (weights_[0].bytes == nullptr || (gated_ && weights_[1].bytes == nullptr))
      return COLIBRI_INVALID_ARGUMENT;
    for (int64_t row = part_.row_begin; row < part_.row_end; ++row) {
      const int64_t input_row = cpu::indexed(call_.row_index, row);
      if (input_row < 0 || input_row >= call_.input.shape[0]) return COLIBRI_INVALID_ARGUMENT;
      write_row(row, cpu::tensor_row(call_.input, input_row));
    }
    return COLIBRI_OK;
  }

 private:
  float dot(const PackedMatrix& weight, int64_t column, uint8_t* input) const {
    if (state_.grouped_matmul.input_dtype == COLIBRI_CODEC_F32) {
      return float_dot(weight, column, reinterpret_cast<const float*>(input));
    }
    return quantised_dot(weight, column, cpu::prepared_row(input, state_.cols));
  }

  float output(int64_t column, uint8_t* input) const {
    const float first = dot(weights_[0], column, input);
    return gated_ ? activate(state_, first) * dot(weights_[1], column, input) : first;
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
};

}  // namespace

// output[i] = weight[group of i] * input[row_index[i]], or act(gate * .) times up * .
colibri_status grouped_matmul(const OperatorState& state, const void* arguments, TaskRange tasks,
                              void*) {
  const auto& call = *static_cast<const colibri_grouped_matmul_args*>(arguments);
  return cpu::for_each_part(state, call, tasks,
                            [&](cpu::ProductPart part) { return Part(state, call, part).run(); });
}

}  // namespace colibri::cpu_generic
