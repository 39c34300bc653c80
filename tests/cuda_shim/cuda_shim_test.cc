// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_shim/cuda_shim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "plugins/cuda/tensor_core.cuh"

namespace colibri::cuda_shim {
namespace {

TEST(CudaShimTest, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<int> seen(3 * 2 * 2 * 64);
  run(dim3(3, 2, 2), dim3(64), [&] {
    const unsigned block = (blockIdx.z * 2 + blockIdx.y) * 3 + blockIdx.x;
    seen[block * 64 + threadIdx.x] += 1;
  });
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(CudaShimTest, BarriersOrderTheBlock) {
  std::vector<int> shared(128), sums(128);
  run(dim3(2), dim3(128), [&] {
    shared[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    sums[threadIdx.x] = std::accumulate(shared.begin(), shared.end(), 0);
    __syncthreads();
    shared[threadIdx.x] = 1000;
  });
  EXPECT_EQ(sums, std::vector<int>(128, 127 * 128 / 2));
}

TEST(CudaShimTest, LanesExchangeWithinTheirWarp) {
  std::vector<int> sums(96);
  run(dim3(1), dim3(96), [&] {
    int sum = static_cast<int>(threadIdx.x);
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    sums[threadIdx.x] = sum;
  });
  for (int i = 0; i < 96; ++i) EXPECT_EQ(sums[i], 31 * 16 + i / 32 * 32 * 32) << i;
}

TEST(CudaShimTest, LanesReadThoseTheyName) {
  std::vector<int> read(64), rotated(64);
  run(dim3(1), dim3(64), [&] {
    const int place = static_cast<int>(threadIdx.x);
    read[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, 100 + place, 5);
    rotated[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, 100 + place, (place + 1) % 32);
  });
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(read[i], 105 + i / 32 * 32) << i;
    EXPECT_EQ(rotated[i], 100 + i / 32 * 32 + (i + 1) % 32) << i;
  }
}

// The twin of the tensor cores' instruction, with the layout of its fragments.
TEST(CudaShimTest, MatrixProduct) {
  int8_t a[16][32], b[32][8];
  int c[16][8];
  unsigned next = 1;
  const auto random_byte = [&] {
    next = next * 1664525u + 1013904223u;
    return static_cast<int8_t>(next >> 24);
  };
  for (auto& row : a) std::generate(std::begin(row), std::end(row), random_byte);
  for (auto& row : b) std::generate(std::begin(row), std::end(row), random_byte);
  run(dim3(1), dim3(32), [&] {
    const unsigned g = threadIdx.x / 4;
    const unsigned t = threadIdx.x % 4;
    int mine_a[4] = {}, mine_b[2] = {}, mine_c[4];
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned k = 0; k < 4; ++k) {
        mine_a[k] |= static_cast<uint8_t>(a[g + k % 2 * 8][k / 2 * 16 + 4 * t + i]) << 8 * i;
        if (k < 2) mine_b[k] |= static_cast<uint8_t>(b[k * 16 + 4 * t + i][g]) << 8 * i;
      }
    }
    cuda::multiply_exactly(mine_a, mine_b, mine_c);
    for (unsigned k = 0; k < 4; ++k) c[g + k / 2 * 8][2 * t + k % 2] = mine_c[k];
  });
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      int want = 0;
      for (int k = 0; k < 32; ++k) want += a[row][k] * b[k][column];
      EXPECT_EQ(c[row][column], want) << row << ", " << column;
    }
  }
}

TEST(CudaShimTest, IntegerDotProduct) {
  EXPECT_EQ(__dp4a(0x7F80FF01, 0x02030405, 7), 127 * 2 - 128 * 3 - 4 + 5 + 7);
}

TEST(CudaShimDeathTest, ABarrierThatOneMissesEndsTheProgram) {
  EXPECT_DEATH(run(dim3(1), dim3(64),
                   [] {
                     if (threadIdx.x != 5) __syncthreads();
                   }),
               "threads of a block wait for one that has ended");
  EXPECT_DEATH(run(dim3(1), dim3(64),
                   [] {
                     if (threadIdx.x != 5) __syncwarp();
                   }),
               "threads of a warp wait for one that does something else");
}

}  // namespace
}  // namespace colibri::cuda_shim
