// SPDX-License-Identifier: Apache-2.0
// How a kernel is started, on a GPU or, where there is no nvcc, on the threads of tests/cuda_shim.
#pragma once

#include <cstdint>

#include "colibri/plugin.h"

#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#else
#include "tests/cuda_shim/cuda_shim.h"
#endif

namespace colibri::cuda {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreads = 128;  // of every block
constexpr unsigned kWarps = kThreads / kWarp;

// Rows that one launch takes, where what the host knows of each travels in the kernel's parameters.
constexpr int64_t kLaunchRows = 64;

// A grid without blocks is nothing to do. [any]
template <typename... Parameters, typename... Arguments>
colibri_status launch(void (*kernel)(Parameters...), dim3 grid, cudaStream_t stream,
                      const Arguments&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return COLIBRI_OK;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  switch (cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...)) {
    case cudaSuccess:
      return COLIBRI_OK;
    case cudaErrorMemoryAllocation:
      return COLIBRI_OUT_OF_MEMORY;
    default:
      return COLIBRI_DEVICE_LOST;
  }
}

inline unsigned blocks_of(int64_t n, int64_t each) {
  return static_cast<unsigned>((n + each - 1) / each);
}

}  // namespace colibri::cuda
