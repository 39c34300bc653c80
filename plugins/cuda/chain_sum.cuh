// SPDX-License-Identifier: Apache-2.0
// Sums of products of floats by a warp, in the order of docs/numerics.md ("Chain sum"): a panel of 8
// weight rows with one vector or a few.
#pragma once

#include "plugins/cuda/weight.cuh"

namespace colibri::cuda {

constexpr int64_t kChain = 8;        // products
constexpr int64_t kChainBlock = 64;  // products: 8 chains

// What a warp finds at a time: 64 sums of blocks, or 32 where one vector gives no more to do.
template <int kVectors>
struct ChainSums {
  static constexpr int kBlocks = kVectors == 1 ? 4 : 1;
  static constexpr int kOwn = kBlocks * kVectors * 8 / static_cast<int>(kWarp);
  // Lane l has the sums of row l % 8 and of the vectors l / 8 + 4 j; of one vector, every lane has it.
  float total[kOwn];
};

// The sums of the panel's rows and the first `count` of the vectors x[], each of `cols` numbers. Lane
// 4 c + p takes chain c of a block for the rows 2 p and 2 p + 1; the chains meet in shared memory.
template <uint32_t kCodec, int kVectors>
__device__ ChainSums<kVectors> chain_sums(const uint8_t* panel, const float* const (&x)[kVectors],
                                          int64_t count, int64_t cols) {
  using Found = ChainSums<kVectors>;
  constexpr int kBlocks = Found::kBlocks;
  // [chain][row] of each block and vector, padded so that lanes meet different banks
  __shared__ float chains[kWarps][kBlocks * kVectors][kChainBlock + 8];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned p = lane % 4;
  auto& mine = chains[threadIdx.x / kWarp];
  Found found = {};
  for (int64_t begin = 0; begin < cols; begin += kBlocks * kChainBlock) {
    float chain[kBlocks][kVectors][2] = {};
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (int i = 0; i < kChain; ++i) {
        const int64_t k = begin + b * kChainBlock + lane / 4 * kChain + i;
        if (k >= cols) break;
        const Pair number = float_pair<kCodec>(panel, k * 8 + 2 * p);
#pragma unroll
        for (int t = 0; t < kVectors; ++t) {
          if (t >= count) break;
          chain[b][t][0] = fmaf(x[t][k], number.first, chain[b][t][0]);
          chain[b][t][1] = fmaf(x[t][k], number.second, chain[b][t][1]);
        }
      }
    }
    __syncwarp();  // the chains of before have been read
#pragma unroll
    for (int i = 0; i < kBlocks * kVectors; ++i) {
      mine[i][lane * 2] = chain[i / kVectors][i % kVectors][0];
      mine[i][lane * 2 + 1] = chain[i / kVectors][i % kVectors][1];
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < Found::kOwn; ++j) {
      float block = 0;
      for (int c = 0; c < 8; ++c) block += mine[lane / 8 + 4 * j][c * 8 + lane % 8];
      if constexpr (kBlocks == 1) {
        found.total[j] += block;
      } else {  // lane 8 b + r has block b of row r; blocks behind the end add +0
        for (int b = 0; b < kBlocks; ++b)
          found.total[j] += __shfl_sync(0xFFFFFFFFu, block, b * 8 + static_cast<int>(lane % 8));
      }
    }
  }
  return found;
}

}  // namespace colibri::cuda
