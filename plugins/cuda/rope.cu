// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plugins/cpu_common/views.h"
#include "plugins/cuda/numbers.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

struct Rotation {
  float* x;                    // the first of the launch's rows
  int64_t stride;              // numbers
  const float *cosine, *sine;  // [positions, pairs]
  int64_t heads, head_dim, first, pairs;
  bool half;  // pairs (i, i + pairs), else (2i, 2i + 1)
  int32_t position[kLaunchRows];
};

// A block for each row and kThreads of its pairs.
__global__ void rotate_rows(Rotation call) {
  const int64_t pair = int64_t{blockIdx.y} * kThreads + threadIdx.x;
  if (pair >= call.heads * call.pairs) return;
  const int64_t i = pair % call.pairs;
  float* numbers =
      call.x + blockIdx.x * call.stride + pair / call.pairs * call.head_dim + call.first;
  float* first = numbers + (call.half ? i : 2 * i);
  float* second = numbers + (call.half ? i + call.pairs : 2 * i + 1);
  const float x = *first;
  const float y = *second;
  const int64_t at = call.position[blockIdx.x] * call.pairs + i;
  *first = x * call.cosine[at] - y * call.sine[at];
  *second = y * call.cosine[at] + x * call.sine[at];
}

}  // namespace

// Each pair (x, y) of a head becomes (x cos - y sin, y cos + x sin) (Su et al. 2021).
colibri_status rope(const OperatorState& state, const void* arguments, cudaStream_t stream, void*) {
  const auto& call = *static_cast<const colibri_rope_args*>(arguments);
  const auto& a = state.rope;
  for (int64_t begin = 0; begin < call.x.shape[0]; begin += kLaunchRows) {
    const int64_t rows = std::min(kLaunchRows, call.x.shape[0] - begin);
    Rotation rotation = {cpu::f32_row(call.x, begin),
                         call.x.stride[0] / 4,
                         call.cosine,
                         call.sine,
                         a.heads,
                         a.head_dim,
                         a.first,
                         a.dims / 2,
                         a.style == COLIBRI_ROPE_HALF,
                         {}};
    for (int64_t i = 0; i < rows; ++i) {
      rotation.position[i] = call.position[begin + i];
      if (rotation.position[i] < 0) return COLIBRI_INVALID_ARGUMENT;
    }
    const dim3 grid(static_cast<unsigned>(rows), blocks_of(a.heads * rotation.pairs, kThreads));
    if (const colibri_status status = launch(rotate_rows, grid, stream, rotation);
        status != COLIBRI_OK)
      return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cuda
