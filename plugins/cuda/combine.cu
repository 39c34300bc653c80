// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/views.h"
#include "plugins/cuda/numbers.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

struct Slots {
  const float *residual, *row;
  float* output;
  int64_t residual_stride, row_stride, output_stride;  // numbers
  int64_t rows, cols, slots;                           // rows: of `row`
  const int32_t* row_index;                            // nullptr = row * slots + slot
  const float* weight;                                 // nullptr = all 1
  float scale;
};

// A block for each row and kThreads columns of it.
__global__ void combine_rows(Slots call) {
  const int64_t column = int64_t{blockIdx.y} * kThreads + threadIdx.x;
  if (column >= call.cols) return;
  const int64_t row = blockIdx.x;
  float sum = call.residual[row * call.residual_stride + column];
  for (int64_t index = row * call.slots; index < (row + 1) * call.slots; ++index) {
    const int64_t from = call.row_index == nullptr ? index : call.row_index[index];
    const float weight = (call.weight == nullptr ? 1.0f : call.weight[index]) * call.scale;
    const bool is_there = from >= 0 && from < call.rows;
    sum = is_there ? fmaf(weight, call.row[from * call.row_stride + column], sum) : not_a_number();
  }
  call.output[row * call.output_stride + column] = sum;
}

}  // namespace

// output = residual + sum over slots, in order, of (weight * scale) * row
colibri_status combine(const OperatorState& state, const void* arguments, cudaStream_t stream,
                       void*) {
  const auto& call = *static_cast<const colibri_combine_args*>(arguments);
  const Slots slots = {cpu::f32_row(call.residual, 0),
                       cpu::f32_row(call.row, 0),
                       cpu::f32_row(call.output, 0),
                       call.residual.stride[0] / 4,
                       call.row.stride[0] / 4,
                       call.output.stride[0] / 4,
                       call.row.shape[0],
                       call.output.shape[1],
                       state.combine.slots,
                       call.row_index,
                       call.weight,
                       state.combine.scale};
  const dim3 grid(static_cast<unsigned>(call.output.shape[0]), blocks_of(slots.cols, kThreads));
  return launch(combine_rows, grid, stream, slots);
}

}  // namespace colibri::cuda
