// SPDX-License-Identifier: Apache-2.0
// grouped_matmul, cut into tiles.
#include "plugins/cuda/product.cuh"

#include <algorithm>
#include <utility>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cuda {
namespace {

// Tiles that wait for their launch, until there are as many as it takes.
class Launcher {
 public:
  using Multiply = decltype(&multiply_few);
  Launcher(Multiply multiply, const OperatorState& state, uint32_t weights, const ProductCall& call,
           cudaStream_t stream)
      : multiply_(multiply), state_(state), weights_(weights), call_(call), stream_(stream) {}

  colibri_status add(const Tile& tile) {
    tiles_.tile[count_++] = tile;
    return count_ == Tiles::kMost ? flush() : COLIBRI_OK;
  }
  colibri_status flush() {
    const int64_t count = std::exchange(count_, 0);
    if (count == 0) return COLIBRI_OK;
    return multiply_(state_.weight_codec, weights_, call_, tiles_, count, stream_);
  }

 private:
  Multiply multiply_;
  const OperatorState& state_;
  uint32_t weights_;
  const ProductCall& call_;
  cudaStream_t stream_;
  Tiles tiles_;
  int64_t count_ = 0;
};

ProductCall call_of(const OperatorState& state, const colibri_grouped_matmul_args& call) {
  const auto& a = state.grouped_matmul;
  return {cpu::tensor_bytes(call.input),
          cpu::tensor_bytes(call.output),
          call.input.stride[0],
          call.output.stride[0],
          call.input.shape[0],
          call.output.shape[0],
          state.rows,
          state.cols,
          cpu::panel_bytes(state.weight_codec, state.cols),
          call.row_index,
          call.output_index,
          a.epilogue,
          a.activation,
          a.output_dtype,
          a.clamp,
          a.alpha,
          a.up_offset};
}

// Weights and biases of a group; false if they do not fit.
bool find_weights(const OperatorState& state, const colibri_grouped_matmul_args& call,
                  int64_t group, Tile* tile) {
  const uint32_t weights = call.weights_per_group;
  for (uint32_t w = 0; w < weights; ++w) {
    tile->weight[w] = cpu::packed_weight(state, call.weight[group * weights + w]);
    if (tile->weight[w] == nullptr) return false;
    if (state.grouped_matmul.bias == 0) continue;
    tile->bias[w] = cpu::bias_numbers(state, call.bias[group * weights + w]);
    if (tile->bias[w] == nullptr) return false;
  }
  return true;
}

}  // namespace

// output[output_index[i]] = act(weight[group of i] * input[row_index[i]] + bias), or the gated
// product of two such
colibri_status grouped_matmul(const OperatorState& state, const void* arguments,
                              cudaStream_t stream, void*) {
  const auto& call = *static_cast<const colibri_grouped_matmul_args*>(arguments);
  const ProductCall product = call_of(state, call);
  if (product.input_rows == 0 || product.output_rows == 0) return COLIBRI_OK;
  Launcher few(multiply_few, state, call.weights_per_group, product, stream);
  Launcher many(multiply_many, state, call.weights_per_group, product, stream);
  for (int64_t group = 0; group < call.groups; ++group) {
    const int64_t end = call.group_begin[group + 1];
    Tile tile = {{}, {}, call.group_begin[group], 0};
    if (tile.begin < end && !find_weights(state, call, group, &tile))
      return COLIBRI_INVALID_ARGUMENT;
    for (; tile.begin < end; tile.begin += tile.rows) {
      tile.rows = std::min<int64_t>(end - tile.begin, kManyRows);
      Launcher& launcher = tile.rows <= kFewRows ? few : many;
      if (const colibri_status status = launcher.add(tile); status != COLIBRI_OK) return status;
    }
  }
  const colibri_status status = few.flush();
  return status == COLIBRI_OK ? many.flush() : status;
}

}  // namespace colibri::cuda
