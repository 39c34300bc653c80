// SPDX-License-Identifier: Apache-2.0
// grouped_matmul as products of a weight with one vector and a few: a warp reads a panel of 8 rows
// once for all rows of its tile. A tile is up to kTileRows product rows of one group.
#include <algorithm>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cuda/operators.h"
#include "plugins/cuda/weight.cuh"

namespace colibri::cuda {
namespace {

constexpr int kTileRows = 8;
constexpr int64_t kTilesOfLaunch = 64;
constexpr unsigned kBlockColumns = kWarps * 8;  // outputs of a block in each row: a panel a warp

struct Tile {
  const uint8_t* weight[2];  // or gate, up
  const float* bias[2];      // or nullptr
  int64_t begin, rows;       // product rows
};
struct Tiles {
  Tile tile[kTilesOfLaunch];
};

struct Call {
  const uint8_t* input;
  uint8_t* output;
  int64_t input_stride, output_stride;  // bytes
  int64_t input_rows, output_rows;
  int64_t rows, cols, panel_bytes;  // of a weight
  const int32_t *row_index, *output_index;
  uint32_t epilogue, activation, output_dtype;
  float clamp, alpha, up_offset;
};

// Sums of a warp's panel: those of gate or alone, and of up.
template <int kWeights>
using Sums = float[kWeights][kTileRows][kBlockColumns];

// A quantised weight and q8_32 rows. Lane 8 v + r has the columns 4 v + i and 16 + 4 v + i of row r.
template <uint32_t kCodec, int kWeights, int kRows>
__device__ void multiply_quantised(const Call& call, const uint8_t* const (&panel)[kWeights],
                                   uint8_t* const (&x)[kRows], int64_t rows, Sums<kWeights>& sums) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned v = lane / 8;
  const unsigned r = lane % 8;
  float sum[kWeights][kRows] = {};
#pragma unroll(kRows == 1 ? 4 : 1)  // several loads at a time, where rows give nothing else to do
  for (int64_t part = 0; part < call.cols / 32; ++part) {
    Quads quads[kWeights];
    Scale scale[kWeights];
    for (int w = 0; w < kWeights; ++w) {
      const Part at = part_of<kCodec>(panel[w], part);
      quads[w] = quads_of<kCodec>(at, v, r);
      scale[w] = scale_of<kCodec>(at, r);
    }
#pragma unroll
    for (int t = 0; t < kRows; ++t) {
      if (t >= rows) break;
      const PreparedRow row = prepared_row(x[t], call.cols);
      const auto* q = reinterpret_cast<const int*>(row.q + part * 32);
      const int low = q[v];
      const int high = q[4 + v];
      const float d = row.scale[part];
      for (int w = 0; w < kWeights; ++w) {
        const int dot = __dp4a(quads[w].low, low, __dp4a(quads[w].high, high, 0));
        sum[w][t] = fmaf(static_cast<float>(dot), scale[w].scale * d, sum[w][t]);
        if (!kHasOffset<kCodec> || v != 0) continue;
        const int of_q = row.sum[2 * part] + row.sum[2 * part + 1];
        sum[w][t] = fmaf(scale[w].offset, static_cast<float>(of_q) * d, sum[w][t]);
      }
    }
  }
#pragma unroll
  for (int t = 0; t < kRows; ++t) {
    if (t >= rows) break;
    for (int w = 0; w < kWeights; ++w) {
      float total = sum[w][t];
      total += __shfl_xor_sync(0xFFFFFFFFu, total, 8);
      total += __shfl_xor_sync(0xFFFFFFFFu, total, 16);
      if (v == 0) sums[w][t][threadIdx.x / kWarp * 8 + r] = total;
    }
  }
}

// A float weight and f32 rows. Lane 4 c + p has rows 2 p and 2 p + 1 of every 8th column from c on.
template <uint32_t kCodec, int kWeights, int kRows>
__device__ void multiply_floats(const Call& call, const uint8_t* const (&panel)[kWeights],
                                uint8_t* const (&x)[kRows], int64_t rows, Sums<kWeights>& sums) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned p = lane % 4;
  float sum[kWeights][kRows][2] = {};
#pragma unroll(kRows == 1 ? 4 : 1)
  for (int64_t k = lane / 4; k < call.cols; k += 8) {
    float number[kWeights][2];
    for (int w = 0; w < kWeights; ++w) {
      number[w][0] = float_number<kCodec>(panel[w], k * 8 + 2 * p);
      number[w][1] = float_number<kCodec>(panel[w], k * 8 + 2 * p + 1);
    }
#pragma unroll
    for (int t = 0; t < kRows; ++t) {
      if (t >= rows) break;
      const float at = reinterpret_cast<const float*>(x[t])[k];
      for (int w = 0; w < kWeights; ++w) {
        sum[w][t][0] = fmaf(at, number[w][0], sum[w][t][0]);
        sum[w][t][1] = fmaf(at, number[w][1], sum[w][t][1]);
      }
    }
  }
#pragma unroll
  for (int t = 0; t < kRows; ++t) {
    if (t >= rows) break;
    for (int w = 0; w < kWeights; ++w) {
      for (int i = 0; i < 2; ++i) {
        float total = sum[w][t][i];
        for (int distance = 4; distance < 32; distance *= 2)
          total += __shfl_xor_sync(0xFFFFFFFFu, total, distance);
        if (lane < 4) sums[w][t][threadIdx.x / kWarp * 8 + 2 * p + i] = total;
      }
    }
  }
}

// One output of its sums, each with its bias.
__device__ inline float finished(const Call& call, float gate, float up) {
  if (call.epilogue == COLIBRI_EPILOGUE_NONE) {
    const float x = clamped(gate, call.clamp);
    return call.activation == COLIBRI_ACTIVATION_NONE ? x : 1.0f / (1.0f + exp_f32(-x));
  }
  if (call.clamp != 0 && gate > call.clamp) gate = call.clamp;
  up = clamped(up, call.clamp);
  if (call.activation == COLIBRI_ACTIVATION_SILU) {
    const float alpha = call.alpha == 0 ? 1.0f : call.alpha;
    gate = gate / (1.0f + exp_f32(-alpha * gate));
  }
  if (call.up_offset != 0) up = up + call.up_offset;
  return gate * up;
}

// A warp writes 32 outputs of a row at a time.
template <int kWeights>
__device__ void write_outputs(const Call& call, const Tile& tile, const Sums<kWeights>& sums) {
  const unsigned lane = threadIdx.x % kWarp;
  const int64_t column = int64_t{blockIdx.x} * kBlockColumns + lane;
  for (unsigned t = threadIdx.x / kWarp; t < tile.rows; t += kWarps) {
    const int64_t from = indexed(call.row_index, tile.begin + t);
    const int64_t to = indexed(call.output_index, tile.begin + t);
    if (to < 0 || to >= call.output_rows) continue;
    float number = 0;
    if (column < call.rows) {
      float sum[2] = {};
      for (int w = 0; w < kWeights; ++w) {
        sum[w] = sums[w][t][lane];
        if (tile.bias[w] != nullptr) sum[w] += tile.bias[w][column];
      }
      number =
          from >= 0 && from < call.input_rows ? finished(call, sum[0], sum[1]) : not_a_number();
    }
    uint8_t* out = call.output + to * call.output_stride;
    if (call.output_dtype == COLIBRI_CODEC_Q8_32) {  // rows are whole blocks
      prepare_block(number, prepared_row(out, call.rows), blockIdx.x);
    } else if (column < call.rows) {
      reinterpret_cast<float*>(out)[column] = number;
    }
  }
}

static_assert(kBlockColumns == kWarp, "a block writes whole blocks of q8_32");

// A block for kBlockColumns outputs (x) of a tile (y).
template <uint32_t kCodec, int kWeights, int kRows>
__global__ void __launch_bounds__(kThreads) multiply(Call call, Tiles tiles) {
  __shared__ Sums<kWeights> sums;
  const Tile& tile = tiles.tile[blockIdx.y];
  const int64_t panel_number = int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (panel_number * 8 < call.rows) {
    const uint8_t* panel[kWeights];
    for (int w = 0; w < kWeights; ++w) panel[w] = tile.weight[w] + panel_number * call.panel_bytes;
    uint8_t* x[kRows] = {};
    for (int t = 0; t < kRows; ++t) {
      if (t >= tile.rows) break;
      int64_t row = indexed(call.row_index, tile.begin + t);
      if (row < 0 || row >= call.input_rows) row = 0;  // write_outputs() makes it NaN
      x[t] = const_cast<uint8_t*>(call.input) + row * call.input_stride;
    }
    if constexpr (kIsFloat<kCodec>) {
      multiply_floats<kCodec, kWeights, kRows>(call, panel, x, tile.rows, sums);
    } else {
      multiply_quantised<kCodec, kWeights, kRows>(call, panel, x, tile.rows, sums);
    }
  }
  __syncthreads();
  write_outputs<kWeights>(call, tile, sums);
}

template <uint32_t kCodec, int kWeights>
colibri_status multiply_tiles(const Call& call, const Tiles& tiles, int64_t count, bool single,
                              cudaStream_t stream) {
  const dim3 grid(blocks_of(call.rows, kBlockColumns), static_cast<unsigned>(count));
  return single ? launch(multiply<kCodec, kWeights, 1>, grid, stream, call, tiles)
                : launch(multiply<kCodec, kWeights, kTileRows>, grid, stream, call, tiles);
}

// The tiles of a call, launched as often as kTilesOfLaunch are together.
class Launcher {
 public:
  Launcher(const OperatorState& state, const colibri_grouped_matmul_args& call, cudaStream_t stream)
      : state_(state), arguments_(call), stream_(stream) {
    const auto& a = state.grouped_matmul;
    call_ = {cpu::tensor_bytes(call.input),
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

  colibri_status run() {
    if (call_.input_rows == 0 || call_.output_rows == 0) return COLIBRI_OK;
    for (int64_t group = 0; group < arguments_.groups; ++group) {
      const int64_t end = arguments_.group_begin[group + 1];
      for (int64_t begin = arguments_.group_begin[group]; begin < end; begin += kTileRows) {
        const colibri_status status = add(group, begin, std::min<int64_t>(end - begin, kTileRows));
        if (status != COLIBRI_OK) return status;
      }
    }
    return flush();
  }

 private:
  colibri_status add(int64_t group, int64_t begin, int64_t rows) {
    Tile& tile = tiles_.tile[count_];
    tile = {{}, {}, begin, rows};
    const uint32_t weights = arguments_.weights_per_group;
    for (uint32_t w = 0; w < weights; ++w) {
      tile.weight[w] = cpu::packed_weight(state_, arguments_.weight[group * weights + w]);
      if (tile.weight[w] == nullptr) return COLIBRI_INVALID_ARGUMENT;
      if (state_.grouped_matmul.bias == 0) continue;
      tile.bias[w] = cpu::bias_numbers(state_, arguments_.bias[group * weights + w]);
      if (tile.bias[w] == nullptr) return COLIBRI_INVALID_ARGUMENT;
    }
    single_ = single_ && rows == 1;
    return ++count_ == kTilesOfLaunch ? flush() : COLIBRI_OK;
  }

  colibri_status flush() {
    colibri_status status = COLIBRI_INTERNAL;
    with_codec(state_.weight_codec, [&]<uint32_t kCodec>() {
      status = arguments_.weights_per_group == 1
                   ? multiply_tiles<kCodec, 1>(call_, tiles_, count_, single_, stream_)
                   : multiply_tiles<kCodec, 2>(call_, tiles_, count_, single_, stream_);
    });
    count_ = 0;
    single_ = true;
    return status;
  }

  const OperatorState& state_;
  const colibri_grouped_matmul_args& arguments_;
  cudaStream_t stream_;
  Call call_;
  Tiles tiles_;
  int64_t count_ = 0;
  bool single_ = true;  // every tile so far is one row
};

}  // namespace

// output[output_index[i]] = act(weight[group of i] * input[row_index[i]] + bias), or the gated
// product of two such
colibri_status grouped_matmul(const OperatorState& state, const void* arguments,
                              cudaStream_t stream, void*) {
  return Launcher(state, *static_cast<const colibri_grouped_matmul_args*>(arguments), stream).run();
}

}  // namespace colibri::cuda
