// SPDX-License-Identifier: Apache-2.0
// Products of a weight with one vector and a few: a warp reads a panel of 8 weight rows once for all
// rows of its tile.
#include "plugins/cuda/chain_sum.cuh"
#include "plugins/cuda/product.cuh"

namespace colibri::cuda {
namespace {

constexpr int kColumns = kWarps * 8;  // outputs of a block in each row: a panel a warp
template <int kWeights>
using FewSums = Sums<kWeights, kFewRows, kColumns>;

// What four lanes (lane / 8) have of the dots of a part, added up: of one row in each of them, of
// kFewRows rows those of 2 v and 2 v + 1 in lane 8 v + r.
template <int kRows>
__device__ inline void add_up(int (&dot)[kRows]) {
  if constexpr (kRows == 1) {
    dot[0] += __shfl_xor_sync(0xFFFFFFFFu, dot[0], 16);
    dot[0] += __shfl_xor_sync(0xFFFFFFFFu, dot[0], 8);
  } else {
    static_assert(kRows == 8);
    const unsigned v = threadIdx.x % kWarp / 8;
#pragma unroll
    for (int half = 4; half >= 2;
         half /= 2) {  // each keeps one half of the rows and gives the other
      const bool keeps_high = (v & static_cast<unsigned>(half / 2)) != 0;
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const int given = keeps_high ? dot[i] : dot[i + half];
        const int kept = keeps_high ? dot[i + half] : dot[i];
        dot[i] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, half * 4);
      }
    }
  }
}

// A quantised weight and q8_32 rows. Lane 8 v + r has the columns 4 v + i and 16 + 4 v + i of row r.
template <uint32_t kCodec, int kWeights, int kRows>
__device__ void multiply_quantised(const ProductCall& call, const uint8_t* const (&panel)[kWeights],
                                   uint8_t* const (&x)[kRows], int64_t rows,
                                   FewSums<kWeights>& sums) {
  constexpr int kOwn = kRows == 1 ? 1 : 2;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned v = lane / 8;
  const unsigned r = lane % 8;
  PreparedRow own[kOwn];  // the rows whose sums this lane has
  for (int i = 0; i < kOwn; ++i) own[i] = prepared_row(x[0], call.cols);
#pragma unroll
  for (int t = 1; t < kRows; ++t) {  // indices that are known keep x in registers
    if (t / kOwn == static_cast<int>(v)) own[t % kOwn] = prepared_row(x[t], call.cols);
  }
  float sum[kWeights][kOwn] = {};
#pragma unroll(kRows == 1 ? 4 : 1)  // several loads at a time, where rows give nothing else to do
  for (int64_t part = 0; part < call.cols / 32; ++part) {
    Quads quads[kWeights];
    Scale scale[kWeights];
    for (int w = 0; w < kWeights; ++w) {
      const Part at = part_of<kCodec>(panel[w], part);
      quads[w] = quads_of<kCodec>(at, v, r);
      scale[w] = scale_of<kCodec>(at, r);
    }
    int dot[kWeights][kRows] = {};
#pragma unroll
    for (int t = 0; t < kRows; ++t) {
      if (t >= rows) break;
      const auto* q = reinterpret_cast<const int*>(x[t] + part * 32);
      const int low = q[v];
      const int high = q[4 + v];
      for (int w = 0; w < kWeights; ++w)
        dot[w][t] = __dp4a(quads[w].low, low, __dp4a(quads[w].high, high, 0));
    }
    for (int w = 0; w < kWeights; ++w) add_up(dot[w]);
    for (int i = 0; i < kOwn; ++i) {
      const float d = own[i].scale[part];
      for (int w = 0; w < kWeights; ++w) {
        sum[w][i] = fmaf(static_cast<float>(dot[w][i]), scale[w].scale * d, sum[w][i]);
        if (!kHasOffset<kCodec>) continue;
        const int of_q = own[i].sum[2 * part] + own[i].sum[2 * part + 1];
        sum[w][i] = fmaf(scale[w].offset, static_cast<float>(of_q) * d, sum[w][i]);
      }
    }
  }
  for (int w = 0; w < kWeights; ++w) {
    for (int i = 0; i < kOwn; ++i) {
      const unsigned t = kRows == 1 ? 0 : v * kOwn + static_cast<unsigned>(i);
      if (kRows > 1 || v == 0) sums[w][t][threadIdx.x / kWarp * 8 + r] = sum[w][i];
    }
  }
}

template <uint32_t kCodec, int kWeights, int kRows>
__device__ void multiply_floats(const ProductCall& call, const uint8_t* const (&panel)[kWeights],
                                uint8_t* const (&x)[kRows], int64_t rows, FewSums<kWeights>& sums) {
  const unsigned lane = threadIdx.x % kWarp;
  const float* vector[kRows];
  for (int t = 0; t < kRows; ++t) vector[t] = reinterpret_cast<const float*>(x[t]);
  for (int w = 0; w < kWeights; ++w) {
    const auto found = chain_sums<kCodec>(panel[w], vector, rows, call.cols);
    for (int j = 0; j < found.kOwn; ++j) {
      const unsigned t = kRows == 1 ? 0 : lane / 8 + 4 * static_cast<unsigned>(j);
      sums[w][t][threadIdx.x / kWarp * 8 + lane % 8] = found.total[j];
    }
  }
}

// A block for kColumns outputs (x) of a tile (y).
template <uint32_t kCodec, int kWeights, int kRows>
__global__ void __launch_bounds__(kThreads) few(ProductCall call, Tiles tiles) {
  __shared__ FewSums<kWeights> sums;
  const Tile& tile = tiles.tile[blockIdx.y];
  const int64_t panel_number = int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (panel_number * 8 < call.rows) {
    const uint8_t* panel[kWeights];
    for (int w = 0; w < kWeights; ++w) panel[w] = tile.weight[w] + panel_number * call.panel_bytes;
    uint8_t* x[kRows];
#pragma unroll
    for (int t = 0; t < kRows; ++t) x[t] = input_of(call, tile.begin + (t < tile.rows ? t : 0));
    if constexpr (kIsFloat<kCodec>) {
      multiply_floats<kCodec, kWeights, kRows>(call, panel, x, tile.rows, sums);
    } else {
      multiply_quantised<kCodec, kWeights, kRows>(call, panel, x, tile.rows, sums);
    }
  }
  __syncthreads();
  write_outputs<kWeights, kFewRows, kColumns>(call, tile, sums);
}

template <uint32_t kCodec, int kWeights>
colibri_status multiply(const ProductCall& call, const Tiles& tiles, int64_t count,
                        cudaStream_t stream) {
  bool single = true;
  for (int64_t i = 0; i < count; ++i) single = single && tiles.tile[i].rows == 1;
  const dim3 grid(blocks_of(call.rows, kColumns), static_cast<unsigned>(count));
  return single ? launch(few<kCodec, kWeights, 1>, grid, stream, call, tiles)
                : launch(few<kCodec, kWeights, kFewRows>, grid, stream, call, tiles);
}

}  // namespace

colibri_status multiply_few(uint32_t codec, uint32_t weights, const ProductCall& call,
                            const Tiles& tiles, int64_t count, cudaStream_t stream) {
  colibri_status status = COLIBRI_INTERNAL;
  with_codec(codec, [&]<uint32_t kCodec>() {
    status = weights == 1 ? multiply<kCodec, 1>(call, tiles, count, stream)
                          : multiply<kCodec, 2>(call, tiles, count, stream);
  });
  return status;
}

}  // namespace colibri::cuda
