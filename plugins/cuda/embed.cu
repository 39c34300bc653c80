// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cuda/operators.h"
#include "plugins/cuda/weight.cuh"

namespace colibri::cuda {
namespace {

struct Table {
  const uint8_t* panels;
  int64_t panel_bytes, rows, cols;
};

// A block for each row and kThreads columns of it.
template <uint32_t kCodec>
__global__ void embed_rows(Table table, const int32_t* ids, float scale, float* output,
                           int64_t stride) {
  const int64_t column = int64_t{blockIdx.y} * kThreads + threadIdx.x;
  if (column >= table.cols) return;
  const int64_t id = ids[blockIdx.x];
  float number = not_a_number();
  if (id >= 0 && id < table.rows) {
    number = scale * weight_number<kCodec>(table.panels + id / 8 * table.panel_bytes,
                                           static_cast<unsigned>(id % 8), column);
  }
  output[blockIdx.x * stride + column] = number;
}

}  // namespace

// output[row] = scale * table[ids[row]]
colibri_status embed(const OperatorState& state, const void* arguments, cudaStream_t stream,
                     void*) {
  const auto& call = *static_cast<const colibri_embed_args*>(arguments);
  const Table table = {cpu::packed_weight(state, call.table),
                       cpu::panel_bytes(state.weight_codec, state.cols), state.rows, state.cols};
  const dim3 grid(static_cast<unsigned>(call.output.shape[0]), blocks_of(state.cols, kThreads));
  colibri_status status = COLIBRI_INTERNAL;
  with_codec(state.weight_codec, [&]<uint32_t kCodec>() {
    status = launch(embed_rows<kCodec>, grid, stream, table,
                    reinterpret_cast<const int32_t*>(cpu::tensor_bytes(call.ids)),
                    state.embed.scale, cpu::f32_row(call.output, 0), call.output.stride[0] / 4);
  });
  return status;
}

}  // namespace colibri::cuda
