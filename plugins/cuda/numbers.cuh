// SPDX-License-Identifier: Apache-2.0
// Numbers in kernels: small floats, exp, and what a warp makes of 32 numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "colibri/codec.h"
#include "plugins/cuda/launch.cuh"

namespace colibri::cuda {

__device__ inline float f32_of_f16(uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}
__device__ inline uint16_t f16_of_f32(float x) {
  return x == x ? __half_as_ushort(__float2half_rn(x)) : uint16_t{0x7E00};
}
__device__ inline float f32_of_bf16(uint16_t bits) {
  return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}
__device__ inline float infinity() {
  return __uint_as_float(0x7F800000u);
}
__device__ inline float not_a_number() {
  return __uint_as_float(0x7FC00000u);
}
__device__ inline bool is_finite(float x) {
  return (__float_as_uint(x) & 0x7F800000u) != 0x7F800000u;
}

// exp of docs/numerics.md, section 2: the same bits as the host's.
__device__ inline float exp_f32(float x) {
  if (x != x) return x;
  x = fminf(fmaxf(x, -104.0f), 89.0f);
  const float n = rintf(x * 0x1.715476p+0f);
  const float r = fmaf(-n, -0x1.05c610p-29f, fmaf(-n, 0x1.62e430p-1f, x));
  float p = 0x1.6ac144p-10f;
  p = fmaf(p, r, 0x1.123da6p-7f);
  p = fmaf(p, r, 0x1.555858p-5f);
  p = fmaf(p, r, 0x1.55548cp-3f);
  p = fmaf(p, r, 0x1.fffffcp-2f);
  p = fmaf(p, r, 1.0f);
  p = fmaf(p, r, 1.0f);
  const int whole = static_cast<int>(n);
  const int half = whole >> 1;  // rounded down
  return p * __uint_as_float(static_cast<uint32_t>(half + 127) << 23) *
         __uint_as_float(static_cast<uint32_t>(whole - half + 127) << 23);
}

// The number at place i of a list of rows; without a list it is i.
__device__ inline int64_t indexed(const int32_t* list, int64_t i) {
  return list == nullptr ? i : list[i];
}

// x, at most `limit` away from 0, if that is not 0; NaN stays NaN.
__device__ inline float clamped(float x, float limit) {
  if (limit == 0) return x;
  if (x > limit) return limit;
  return x < -limit ? -limit : x;
}

// Of the 32 lanes; the same in each of them. A NaN is passed over.
__device__ inline float warp_max(float x) {
  for (int distance = 16; distance > 0; distance /= 2)
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, distance));
  return x;
}

// A lane sum (docs/numerics.md, section 1) of a warp whose threads i and 16 + i have lane i.
template <typename T>
__device__ T fold_lanes(T lane) {
  for (int distance = 8; distance > 0; distance /= 2)
    lane += __shfl_xor_sync(0xFFFFFFFFu, lane, distance);
  return lane;
}

// A q8_32 row of `cols` activations (docs/numerics.md, section 4).
struct PreparedRow {
  int8_t* q;
  float* scale;
  int16_t* sum;
};
__host__ __device__ inline PreparedRow prepared_row(uint8_t* row, int64_t cols) {
  return {reinterpret_cast<int8_t*>(row), reinterpret_cast<float*>(row + cols),
          reinterpret_cast<int16_t*>(row + cols + cols / 32 * 4)};
}

// Number `lane` of a block, prepared: by a warp, each lane of which has its number.
struct Quantised {
  int q;
  float scale;  // of the block; NaN if not all of it is finite
};
__device__ inline Quantised quantise(float x) {
  const bool all_finite = __all_sync(0xFFFFFFFFu, is_finite(x)) != 0;
  float scale = warp_max(all_finite ? fabsf(x) : 0.0f) / 127.0f;
  if (scale < 0x1p-126f) scale = 0;
  const int q = scale == 0 ? 0 : static_cast<int>(rintf(x * (1.0f / scale)));
  return {q, all_finite ? scale : not_a_number()};
}

// Prepares block `block` of a row.
__device__ inline void prepare_block(float x, const PreparedRow& row, int64_t block) {
  const unsigned lane = threadIdx.x % kWarp;
  const Quantised quantised = quantise(x);
  row.q[block * 32 + lane] = static_cast<int8_t>(quantised.q);
  const int sum = fold_lanes(quantised.q);  // of 16 q
  if (lane % 16 == 0) row.sum[block * 2 + lane / 16] = static_cast<int16_t>(sum);
  if (lane == 0) row.scale[block] = quantised.scale;
}

}  // namespace colibri::cuda
