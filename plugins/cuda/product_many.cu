// SPDX-License-Identifier: Apache-2.0
// Products of a weight with many rows: quantised ones on tensor cores, floats in registers, as their
// order of sums asks for single products. A block keeps some columns of its rows in shared memory.
#include "plugins/cuda/chain_sum.cuh"
#include "plugins/cuda/product.cuh"
#include "plugins/cuda/tensor_core.cuh"

namespace colibri::cuda {
namespace {

struct alignas(16) Bytes16 {
  uint32_t word[4];
};

// Outputs of a block in each row.
template <uint32_t kCodec>
constexpr int kColumns = kIsFloat<kCodec> ? 32 : 64;
template <uint32_t kCodec>
using ManySums = float[kManyRows][kColumns<kCodec>];

// ---- quantised

constexpr int kStageParts = 4;

// kStageParts parts of the tile's rows.
struct Parts {
  // padded, so that the words which lanes read together lie in different banks
  Bytes16 q[kManyRows][kStageParts * 2 + 1];
  float scale[kStageParts][kManyRows];
  float scaled_sum[kStageParts][kManyRows];  // for offsets
};

// Fills the stage with `count` parts from `part` on, zeros where there are no rows.
template <uint32_t kCodec>
__device__ void fill(const ProductCall& call, uint8_t* const (&x)[kManyRows], int64_t part,
                     int count, Parts& stage) {
  for (int i = static_cast<int>(threadIdx.x); i < kManyRows * kStageParts * 2; i += kThreads) {
    const int row = i / (kStageParts * 2);
    const int piece = i % (kStageParts * 2);
    const auto* from = reinterpret_cast<const Bytes16*>(x[row]);
    if (piece < count * 2)
      stage.q[row][piece] = from == nullptr ? Bytes16{} : from[part * 2 + piece];
  }
  for (int i = static_cast<int>(threadIdx.x); i < kManyRows * count; i += kThreads) {
    const int row = i % kManyRows;
    float scale = 0;
    float scaled_sum = 0;
    if (x[row] != nullptr) {
      const PreparedRow prepared = prepared_row(x[row], call.cols);
      const int64_t at = part + i / kManyRows;
      scale = prepared.scale[at];
      if (kHasOffset<kCodec>)
        scaled_sum = static_cast<float>(prepared.sum[2 * at] + prepared.sum[2 * at + 1]) * scale;
    }
    stage.scale[i / kManyRows][row] = scale;
    stage.scaled_sum[i / kManyRows][row] = scaled_sum;
  }
}

// A warp has 16 outputs, two panels, and all rows, 8 at a time. The layout R8 is that of the
// instruction's fragments: a word of a vector holds two of them.
template <uint32_t kCodec>
__device__ void multiply(const ProductCall& call, const uint8_t* weight, int64_t rows,
                         uint8_t* const (&x)[kManyRows], ManySums<kCodec>& sums) {
  __shared__ Parts stage;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned g = lane / 4;
  const unsigned t = lane % 4;
  const unsigned output = threadIdx.x / kWarp * 16;
  const uint8_t* panel[2];
  for (int i = 0; i < 2; ++i) {  // behind the last panel any will do: no output is written there
    const int64_t number = (int64_t{blockIdx.x} * kColumns<kCodec> + output) / 8 + i;
    panel[i] = weight + (number * 8 < call.rows ? number : 0) * call.panel_bytes;
  }
  float sum[kManyRows / 8][4] = {};
  const int64_t parts = call.cols / 32;
  for (int64_t part = 0; part < parts; part += kStageParts) {
    const int count = static_cast<int>(parts - part < kStageParts ? parts - part : kStageParts);
    __syncthreads();  // the stage before has been read
    fill<kCodec>(call, x, part, count, stage);
    __syncthreads();
    for (int p = 0; p < count; ++p) {
      int a[4];
      Scale scale[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Part at = part_of<kCodec>(panel[i], part + p);
        const Quads quads = quads_of<kCodec>(at, t, g);
        a[i] = quads.low;
        a[i + 2] = quads.high;
        scale[i] = scale_of<kCodec>(at, g);
      }
#pragma unroll
      for (int n = 0; n < kManyRows / 8; ++n) {
        if (n * 8 >= rows) break;
        const auto* q = reinterpret_cast<const int*>(&stage.q[n * 8 + g][p * 2]);
        const int b[2] = {q[t], q[4 + t]};
        int dot[4];
        multiply_exactly(a, b, dot);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const unsigned row = n * 8 + 2 * t + i % 2;
          sum[n][i] =
              fmaf(static_cast<float>(dot[i]), scale[i / 2].scale * stage.scale[p][row], sum[n][i]);
          if (kHasOffset<kCodec>)
            sum[n][i] = fmaf(scale[i / 2].offset, stage.scaled_sum[p][row], sum[n][i]);
        }
      }
    }
  }
#pragma unroll
  for (int n = 0; n < kManyRows / 8; ++n) {
    for (int i = 0; i < 4; ++i) sums[n * 8 + 2 * t + i % 2][output + g + i / 2 * 8] = sum[n][i];
  }
}

// ---- floats

struct alignas(16) Four {
  float at[4];
};

// A block of a chain sum: kChainBlock columns of the tile's rows and of the weight.
struct Block {
  Four x[kChainBlock][kManyRows / 4 + 1];  // [column][row], padded as above
  Four weight[kChainBlock][8];             // [column][output]
};

// Fills the stage with the columns from `begin` on, zeros where there are none.
template <uint32_t kCodec>
__device__ void fill(const ProductCall& call, const uint8_t* weight, uint8_t* const (&x)[kManyRows],
                     int64_t begin, Block& stage) {
  for (int i = static_cast<int>(threadIdx.x); i < kManyRows * kChainBlock; i += kThreads) {
    const int row = i / kChainBlock;
    const int k = i % kChainBlock;
    const bool is_there = x[row] != nullptr && begin + k < call.cols;
    stage.x[k][row / 4].at[row % 4] =
        is_there ? reinterpret_cast<const float*>(x[row])[begin + k] : 0.0f;
  }
  constexpr int kPairs = kChainBlock * 4;  // of a panel
  for (int i = static_cast<int>(threadIdx.x); i < 4 * kPairs; i += kThreads) {
    const int64_t panel = int64_t{blockIdx.x} * 4 + i / kPairs;
    const int k = i % kPairs / 4;
    Pair number = {0, 0};
    if (panel * 8 < call.rows && begin + k < call.cols)
      number = float_pair<kCodec>(weight + panel * call.panel_bytes, (begin + k) * 8 + i % 4 * 2);
    Four& to = stage.weight[k][i / kPairs * 2 + i % 4 / 2];
    to.at[i % 2 * 2] = number.first;
    to.at[i % 2 * 2 + 1] = number.second;
  }
}

// A thread has 4 rows and 4 outputs. (Products of zeros behind the end change nothing: blocks and
// sums are never -0.)
template <uint32_t kCodec>
__device__ void multiply_floats(const ProductCall& call, const uint8_t* weight,
                                uint8_t* const (&x)[kManyRows], ManySums<kCodec>& sums) {
  __shared__ Block stage;
  const unsigned row = threadIdx.x / 8;
  const unsigned output = threadIdx.x % 8;
  float sum[4][4] = {};
  for (int64_t begin = 0; begin < call.cols; begin += kChainBlock) {
    __syncthreads();  // the stage before has been read
    fill<kCodec>(call, weight, x, begin, stage);
    __syncthreads();
    float block[4][4] = {};
    for (int first = 0; first < kChainBlock; first += kChain) {
      float chain[4][4] = {};
#pragma unroll
      for (int k = 0; k < kChain; ++k) {
        const Four numbers = stage.x[first + k][row];
        const Four weights = stage.weight[first + k][output];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          chain[i / 4][i % 4] = fmaf(numbers.at[i / 4], weights.at[i % 4], chain[i / 4][i % 4]);
        }
      }
#pragma unroll
      for (int i = 0; i < 16; ++i) block[i / 4][i % 4] += chain[i / 4][i % 4];
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) sum[i / 4][i % 4] += block[i / 4][i % 4];
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) sums[row * 4 + i / 4][output * 4 + i % 4] = sum[i / 4][i % 4];
}

// ---- both

// A block for kColumns outputs (x) of a tile (y).
template <uint32_t kCodec, int kWeights>
__global__ void __launch_bounds__(kThreads) many(ProductCall call, Tiles tiles) {
  __shared__ Sums<kWeights, kManyRows, kColumns<kCodec>> sums;
  __shared__ uint8_t* x[kManyRows];
  const Tile& tile = tiles.tile[blockIdx.y];
  if (threadIdx.x < kManyRows) {
    const int64_t t = threadIdx.x;
    x[t] = t < tile.rows ? input_of(call, tile.begin + t) : nullptr;
  }
  __syncthreads();
  for (int w = 0; w < kWeights; ++w) {
    if constexpr (kIsFloat<kCodec>) {
      multiply_floats<kCodec>(call, tile.weight[w], x, sums[w]);
    } else {
      multiply<kCodec>(call, tile.weight[w], tile.rows, x, sums[w]);
    }
  }
  __syncthreads();
  write_outputs<kWeights, kManyRows, kColumns<kCodec>>(call, tile, sums);
}

}  // namespace

colibri_status multiply_many(uint32_t codec, uint32_t weights, const ProductCall& call,
                             const Tiles& tiles, int64_t count, cudaStream_t stream) {
  colibri_status status = COLIBRI_INTERNAL;
  with_codec(codec, [&]<uint32_t kCodec>() {
    const dim3 grid(blocks_of(call.rows, kColumns<kCodec>), static_cast<unsigned>(count));
    status = weights == 1 ? launch(many<kCodec, 1>, grid, stream, call, tiles)
                          : launch(many<kCodec, 2>, grid, stream, call, tiles);
  });
  return status;
}

}  // namespace colibri::cuda
