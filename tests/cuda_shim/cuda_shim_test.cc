// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_shim/cuda_shim.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

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
