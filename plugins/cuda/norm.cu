// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/views.h"
#include "plugins/cuda/numbers.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

// Rows on their way to f32 or q8_32; strides in bytes.
struct Rows {
  const uint8_t* input;
  uint8_t* output;
  int64_t input_stride, output_stride, cols;
  bool prepares;
};
Rows rows_of(const colibri_tensor& input, const colibri_tensor& output) {
  return {cpu::tensor_bytes(input), cpu::tensor_bytes(output),
          input.stride[0],          output.stride[0],
          input.shape[1],           output.dtype == COLIBRI_CODEC_Q8_32};
}

// Writes number(i) for all i of the block's row, by all threads of the block.
template <typename Number>
__device__ void write_row(const Rows& rows, Number number) {
  uint8_t* out = rows.output + blockIdx.x * rows.output_stride;
  for (int64_t i = threadIdx.x; i < rows.cols; i += kThreads) {  // cols of q8_32: whole warps
    if (rows.prepares) {
      prepare_block(number(i), prepared_row(out, rows.cols), i / 32);
    } else {
      reinterpret_cast<float*>(out)[i] = number(i);
    }
  }
}

// The lane sum of squares of a row, for all threads of the block; one warp's work.
__device__ double sum_of_squares(const float* x, int64_t n) {
  __shared__ double total;
  if (threadIdx.x < kWarp) {
    double lane = 0;
#pragma unroll 8
    for (int64_t i = threadIdx.x % 16; i < n; i += 16) {
      const double number = x[i];
      lane += number * number;
    }
    lane = fold_lanes(lane);
    if (threadIdx.x == 0) total = lane;
  }
  __syncthreads();
  return total;
}

// A block for each row. In f64, as docs/numerics.md has it: squares do not overflow.
__global__ void norm_rows(Rows rows, const float* weight, float eps, float clamp) {
  const auto* x = reinterpret_cast<const float*>(rows.input + blockIdx.x * rows.input_stride);
  const double mean = sum_of_squares(x, rows.cols) / static_cast<double>(rows.cols);
  const double scale = 1 / sqrt(mean + static_cast<double>(eps));
  write_row(rows, [&](int64_t i) {
    return clamped(static_cast<float>(x[i] * scale * weight[i]), clamp);
  });
}

__global__ void quantize(Rows rows) {
  const auto* x = reinterpret_cast<const float*>(rows.input + blockIdx.x * rows.input_stride);
  write_row(rows, [&](int64_t i) { return x[i]; });
}

dim3 grid_of(const colibri_tensor& rows) {
  return dim3(static_cast<unsigned>(rows.shape[0]));
}

}  // namespace

// output = clamp(x / sqrt(mean(x^2) + eps) * weight)
colibri_status norm(const OperatorState& state, const void* arguments, cudaStream_t stream, void*) {
  const auto& call = *static_cast<const colibri_norm_args*>(arguments);
  return launch(norm_rows, grid_of(call.input), stream, rows_of(call.input, call.output),
                reinterpret_cast<const float*>(cpu::tensor_bytes(call.weight)), state.norm.eps,
                state.norm.clamp);
}

colibri_status quantize_rows(const OperatorState&, const void* arguments, cudaStream_t stream,
                             void*) {
  const auto& call = *static_cast<const colibri_quantize_rows_args*>(arguments);
  return launch(quantize, grid_of(call.input), stream, rows_of(call.input, call.output));
}

}  // namespace colibri::cuda
