// SPDX-License-Identifier: Apache-2.0
// Weights in the layout R8 (colibri/kernels.h): panels of 8 rows, quantised ones in parts of 32
// columns whose 32-byte vectors are 4 bytes of each of the 8 rows. So a warp reads a part with one
// coalesced load of 128 bytes: lane 8 v + r has vector v of row r.
#pragma once

#include <cstdint>

#include "plugins/cuda/numbers.cuh"

namespace colibri::cuda {

template <typename T>
__device__ inline T load(const uint8_t* from) {
  return *reinterpret_cast<const T*>(from);
}

// ---- float codecs

template <uint32_t kCodec>
constexpr bool kIsFloat =
    kCodec == COLIBRI_CODEC_F32 || kCodec == COLIBRI_CODEC_F16 || kCodec == COLIBRI_CODEC_BF16;

// Number i of a panel's [cols][8].
template <uint32_t kCodec>
__device__ inline float float_number(const uint8_t* panel, int64_t i) {
  if constexpr (kCodec == COLIBRI_CODEC_F32) return reinterpret_cast<const float*>(panel)[i];
  const uint16_t bits = reinterpret_cast<const uint16_t*>(panel)[i];
  return kCodec == COLIBRI_CODEC_F16 ? f32_of_f16(bits) : f32_of_bf16(bits);
}

// Numbers i and i + 1; i is even. One load.
struct alignas(8) Pair {
  float first, second;
};
template <uint32_t kCodec>
__device__ inline Pair float_pair(const uint8_t* panel, int64_t i) {
  if constexpr (kCodec == COLIBRI_CODEC_F32) return load<Pair>(panel + i * 4);
  const auto bits = load<uint32_t>(panel + i * 2);
  const auto low = static_cast<uint16_t>(bits);
  const auto high = static_cast<uint16_t>(bits >> 16);
  if constexpr (kCodec == COLIBRI_CODEC_F16) return {f32_of_f16(low), f32_of_f16(high)};
  return {f32_of_bf16(low), f32_of_bf16(high)};
}

// ---- quantised codecs

// Where part `part` of a panel lies: its vectors, and what scales them.
struct Part {
  const uint8_t* head;     // f16 d[8], and m[8] if there are offsets
  const uint8_t* scales;   // q4_K: int8 scale[8], min[8]
  const uint8_t* vectors;  // of 4 bytes a row
};
template <uint32_t kCodec>
__device__ inline Part part_of(const uint8_t* panel, int64_t part) {
  if constexpr (kCodec == COLIBRI_CODEC_Q4_K) {
    const uint8_t* block = panel + part / 8 * 1184;
    const uint8_t* scales = block + 32 + part % 8 * 144;
    return {block, scales, scales + 16};
  }
  const uint8_t* block = panel + part * (kCodec == COLIBRI_CODEC_Q8_0 ? 272 : 144);
  return {block, nullptr, block + 16};
}

// A number is scale * q + offset (docs/numerics.md, section 3).
struct Scale {
  float scale, offset;
};
template <uint32_t kCodec>
__device__ inline Scale scale_of(const Part& part, unsigned row) {
  const float d = f32_of_f16(load<uint16_t>(part.head + row * 2));
  if constexpr (kCodec == COLIBRI_CODEC_Q4_K) {
    const float m = f32_of_f16(load<uint16_t>(part.head + 16 + row * 2));
    return {d * static_cast<float>(load<int8_t>(part.scales + row)),
            -m * static_cast<float>(load<int8_t>(part.scales + 8 + row))};
  }
  return {d, 0};
}
template <uint32_t kCodec>
constexpr bool kHasOffset = kCodec == COLIBRI_CODEC_Q4_K;

// The q of 4 columns in each: those from 4 v on and those from 16 + 4 v on.
struct Quads {
  int low, high;
};
template <uint32_t kCodec>
__device__ inline Quads quads_of(const Part& part, unsigned v, unsigned row) {
  const uint8_t* at = part.vectors + v * 32 + row * 4;
  if constexpr (kCodec == COLIBRI_CODEC_Q8_0) return {load<int>(at), load<int>(at + 128)};
  const uint32_t word = load<uint32_t>(at);
  const uint32_t low = word & 0x0F0F0F0Fu;
  const uint32_t high = word >> 4 & 0x0F0F0F0Fu;
  if constexpr (kCodec == COLIBRI_CODEC_Q4_K)
    return {static_cast<int>(low), static_cast<int>(high)};
  // nibble - 8 in each byte; the top bit keeps them from borrowing of each other
  constexpr uint32_t kTop = 0x80808080u, kEight = 0x08080808u;
  return {static_cast<int>(((low | kTop) - kEight) ^ kTop),
          static_cast<int>(((high | kTop) - kEight) ^ kTop)};
}

// ---- any of them

// The number in row `row` of the panel and column `column`.
template <uint32_t kCodec>
__device__ inline float weight_number(const uint8_t* panel, unsigned row, int64_t column) {
  if constexpr (kIsFloat<kCodec>) {
    return float_number<kCodec>(panel, column * 8 + row);
  } else {
    const Part part = part_of<kCodec>(panel, column / 32);
    const Scale scale = scale_of<kCodec>(part, row);
    const auto place = static_cast<unsigned>(column % 32);
    const Quads quads = quads_of<kCodec>(part, place % 16 / 4, row);
    const int word = place < 16 ? quads.low : quads.high;
    const auto q = static_cast<int8_t>(word >> (place % 4 * 8));
    const float number = scale.scale * static_cast<float>(q);
    return kHasOffset<kCodec> ? number + scale.offset : number;
  }
}

// Calls with<codec>() for the codec of a weight; false if there is no code for it.
template <typename With>
bool with_codec(uint32_t codec, With with) {
  switch (codec) {
    case COLIBRI_CODEC_F32:
      with.template operator()<COLIBRI_CODEC_F32>();
      return true;
    case COLIBRI_CODEC_F16:
      with.template operator()<COLIBRI_CODEC_F16>();
      return true;
    case COLIBRI_CODEC_BF16:
      with.template operator()<COLIBRI_CODEC_BF16>();
      return true;
    case COLIBRI_CODEC_Q8_0:
      with.template operator()<COLIBRI_CODEC_Q8_0>();
      return true;
    case COLIBRI_CODEC_Q4_0:
      with.template operator()<COLIBRI_CODEC_Q4_0>();
      return true;
    case COLIBRI_CODEC_Q4_K:
      with.template operator()<COLIBRI_CODEC_Q4_K>();
      return true;
    default:
      return false;
  }
}

}  // namespace colibri::cuda
