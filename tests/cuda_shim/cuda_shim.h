// SPDX-License-Identifier: Apache-2.0
// As much of CUDA as the kernels of plugins/cuda use, on the CPU, to test their logic: each thread of
// a block is a fiber, blocks run one after another in the calling thread, and a launch returns when
// all have run. A barrier that some threads of the block (or of the warp) never reach ends the
// program with a message. Tells nothing of races between barriers, of memory, or of speed.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/base/function_ref.h"
#include "runtime/base/small_floats.h"

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __launch_bounds__(threads)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}  // NOLINT(google-explicit-constructor): as CUDA has it
};

namespace colibri::cuda_shim {

// Where the running fiber is.
struct Here {
  dim3 block, thread;
};
const Here& here();

// Runs body once as each thread of each block.
void run(dim3 grid, dim3 block, FunctionRef<void()> body);

void sync_block();
void sync_warp();
unsigned own_lane();
// Hands `bits` to the warp and returns those of a lane.
uint64_t exchange(uint64_t bits, unsigned lane);

}  // namespace colibri::cuda_shim

#define threadIdx (::colibri::cuda_shim::here().thread)
#define blockIdx (::colibri::cuda_shim::here().block)

inline void __syncthreads() {
  colibri::cuda_shim::sync_block();
}
inline void __syncwarp() {
  colibri::cuda_shim::sync_warp();
}
// All lanes take part: the kernels know no other mask.
template <typename T>
T __shfl_sync(unsigned, T value, int lane) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  return std::bit_cast<T>(static_cast<Bits>(
      colibri::cuda_shim::exchange(std::bit_cast<Bits>(value), static_cast<unsigned>(lane) % 32)));
}
template <typename T>
T __shfl_xor_sync(unsigned all, T value, int mask) {
  return __shfl_sync(all, value, static_cast<int>(colibri::cuda_shim::own_lane()) ^ mask);
}

inline int __all_sync(unsigned all, int predicate) {
  for (int distance = 16; distance > 0; distance /= 2)
    predicate &= __shfl_xor_sync(all, predicate != 0 ? 1 : 0, distance);
  return predicate;
}

inline int __dp4a(int a, int b, int sum) {
  for (int i = 0; i < 4; ++i)
    sum += static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
  return sum;
}
inline float __uint_as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t __float_as_uint(float x) {
  return std::bit_cast<uint32_t>(x);
}

struct __half {
  uint16_t bits;
};
inline __half __ushort_as_half(uint16_t bits) {
  return {bits};
}
inline uint16_t __half_as_ushort(__half x) {
  return x.bits;
}
inline float __half2float(__half x) {
  return colibri::f32_from_f16(x.bits);
}
inline __half __float2half_rn(float x) {
  return {colibri::f16_from_f32(x)};
}

using cudaStream_t = void*;
enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  cudaStream_t stream = nullptr;
};
template <typename... Parameters>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Parameters... arguments) {
  colibri::cuda_shim::run(config->gridDim, config->blockDim, [&] { kernel(arguments...); });
  return cudaSuccess;
}
