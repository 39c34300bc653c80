// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/tensor_core_rate.h"

#include <algorithm>

namespace colibri::gpu_check {
namespace {

constexpr int kThreads = 256, kBlocksPerMultiprocessor = 4;
constexpr int kChains = 8;  // sums that do not wait for each other
constexpr int kRounds = 4096, kRepeats = 5;
constexpr double kOperations = 2.0 * 16 * 8 * 32;  // of an instruction of a warp

// c += a * b, [16][32] * [32][8] by a warp.
__device__ void multiply(const int (&a)[4], const int (&b)[2], int (&c)[4]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  for (int half = 0; half < 2; ++half) {
    for (int k = 0; k < 2; ++k) {
      asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+r"(c[2 * half]), "+r"(c[2 * half + 1])
                   : "r"(a[half + 2 * k]), "r"(b[k]));
    }
  }
#endif
}

__global__ void multiply_in_registers(int* sink) {
  const int lane = static_cast<int>(threadIdx.x);
  const int a[4] = {lane, lane + 1, lane + 2, lane + 3}, b[2] = {lane, lane + 5};
  int sums[kChains][4] = {};
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) multiply(a, b, sums[chain]);
  }
  int sum = 0;
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) sum += sums[chain][0] + sums[chain][3];
  if (sum == -1) *sink = sum;  // so that nothing is left out
}

// Owns what the measurement takes.
struct Timer {
  cudaEvent_t begin = nullptr, end = nullptr;
  int* sink = nullptr;
  ~Timer() {
    if (begin != nullptr) cudaEventDestroy(begin);
    if (end != nullptr) cudaEventDestroy(end);
    cudaFree(sink);
  }
};

cudaError_t measure(double* best) {
  Timer timer;
  int multiprocessors = 0;
  cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  if (code == cudaSuccess) code = cudaSetDevice(0);
  if (code == cudaSuccess) code = cudaEventCreate(&timer.begin);
  if (code == cudaSuccess) code = cudaEventCreate(&timer.end);
  if (code == cudaSuccess) code = cudaMalloc(&timer.sink, sizeof(int));
  const int blocks = multiprocessors * kBlocksPerMultiprocessor;
  const double operations = kOperations * blocks * (kThreads / 32) * kChains * kRounds;
  for (int i = 0; code == cudaSuccess && i < kRepeats; ++i) {
    code = cudaEventRecord(timer.begin);
    multiply_in_registers<<<blocks, kThreads>>>(timer.sink);
    if (code == cudaSuccess) code = cudaGetLastError();
    if (code == cudaSuccess) code = cudaEventRecord(timer.end);
    if (code == cudaSuccess) code = cudaEventSynchronize(timer.end);
    float milliseconds = 0;
    if (code == cudaSuccess) code = cudaEventElapsedTime(&milliseconds, timer.begin, timer.end);
    if (code == cudaSuccess && milliseconds > 0) {
      *best = std::max(*best, operations / (1e-3 * static_cast<double>(milliseconds)));
    }
  }
  return code;
}

}  // namespace

double tensor_core_rate(const char** why) {
  double best = 0;
  const cudaError_t code = measure(&best);
  *why = code == cudaSuccess ? "" : cudaGetErrorString(code);
  return code == cudaSuccess ? best : 0;
}

}  // namespace colibri::gpu_check
