// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices on tensor cores. Integers are exact, so every architecture's instruction
// gives the same bytes, and so does the twin that tests run without a GPU.
#pragma once

#include "plugins/cuda/launch.cuh"

namespace colibri::cuda {

// c [16][8] = a [16][32] * b [32][8] by a warp. Lane 4 g + t has, four bytes to an int,
//   of a  the columns 4 t + i of the rows g and g + 8 in a[0] and a[1], 16 + 4 t + i in a[2] and a[3],
//   of b  those rows of column g in b[0] and b[1],
//   of c  the columns 2 t and 2 t + 1 of row g in c[0] and c[1], of row g + 8 in c[2] and c[3].
__device__ inline void multiply_exactly(const int (&a)[4], const int (&b)[2], int (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %10, %10, %10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0));
#elif defined(__CUDA_ARCH__)  // sm_75: quarters, [8][16] * [16][8]
  for (int half = 0; half < 2; ++half) {  // of the rows
    int* to = c + 2 * half;
    to[0] = to[1] = 0;
    for (int k = 0; k < 2; ++k) {
      asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+r"(to[0]), "+r"(to[1])
          : "r"(a[half + 2 * k]), "r"(b[k]));
    }
  }
#else
  const auto lane = static_cast<int>(threadIdx.x % kWarp);
  const auto of_lane = [](int word, int from) { return __shfl_sync(0xFFFFFFFFu, word, from); };
  for (int& each : c) each = 0;
  for (int t = 0; t < 4; ++t) {
    for (int k = 0; k < 2; ++k) {
      const int first = of_lane(b[k], lane % 4 * 8 + t);
      const int second = of_lane(b[k], lane % 4 * 8 + 4 + t);
      for (int half = 0; half < 2; ++half) {
        const int row = of_lane(a[half + 2 * k], lane / 4 * 4 + t);
        c[2 * half] = __dp4a(row, first, c[2 * half]);
        c[2 * half + 1] = __dp4a(row, second, c[2 * half + 1]);
      }
    }
  }
#endif
}

}  // namespace colibri::cuda
