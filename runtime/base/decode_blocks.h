// SPDX-License-Identifier: Apache-2.0
// The numbers of one block of each quantised codec, as colibri/codec.h defines them. Every product
// and sum is rounded to f32 in the written order, which is ggml's, so the numbers are the same to
// the bit. Local to each file, as files may be built for different instruction sets; the loops are
// such that a compiler can vectorise them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/base/small_floats.h"

namespace colibri {

template <typename T>
static inline T load_from(const uint8_t* bytes) {
  T number;
  std::memcpy(&number, bytes, sizeof(T));
  return number;
}

static inline float load_f16(const uint8_t* bytes) {
  return f32_from_f16(load_from<uint16_t>(bytes));
}

static inline void decode_q8_0(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  for (int i = 0; i < 32; ++i) w[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}

static inline void decode_q4_0(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  const uint8_t* q = block + 2;
  for (int i = 0; i < 16; ++i) {
    w[i] = d * static_cast<float>((q[i] & 15) - 8);
    w[i + 16] = d * static_cast<float>((q[i] >> 4) - 8);
  }
}

static inline void decode_q4_1(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const uint8_t* q = block + 4;
  for (int i = 0; i < 16; ++i) {
    w[i] = d * static_cast<float>(q[i] & 15) + m;
    w[i + 16] = d * static_cast<float>(q[i] >> 4) + m;
  }
}

// Element i of 32 that have 4 bits in q and the fifth in h.
static inline int five_bits(const uint8_t* q, uint32_t h, int i) {
  const int low = i < 16 ? q[i] & 15 : q[i - 16] >> 4;
  return low | static_cast<int>(h >> i & 1) << 4;
}

static inline void decode_q5_0(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  const auto h = load_from<uint32_t>(block + 2);
  for (int i = 0; i < 32; ++i) w[i] = d * static_cast<float>(five_bits(block + 6, h, i) - 16);
}

static inline void decode_q5_1(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const auto h = load_from<uint32_t>(block + 4);
  for (int i = 0; i < 32; ++i) w[i] = d * static_cast<float>(five_bits(block + 8, h, i)) + m;
}

static inline void decode_q2_k(const uint8_t* block, float* w) {
  const uint8_t* s = block;
  const uint8_t* q = block + 16;
  const float d = load_f16(block + 80);
  const float m = load_f16(block + 82);
  for (int j = 0; j < 16; ++j) {  // 16 elements that share a scale
    const float scale = d * static_cast<float>(s[j] & 15);
    const float least = m * static_cast<float>(s[j] >> 4);
    const uint8_t* bytes = q + j / 8 * 32 + j % 2 * 16;
    const int shift = j % 8 / 2 * 2;
    for (int i = 0; i < 16; ++i)
      w[16 * j + i] = scale * static_cast<float>(bytes[i] >> shift & 3) - least;
  }
}

static inline void decode_q3_k(const uint8_t* block, float* w) {
  const uint8_t* h = block;
  const uint8_t* q = block + 32;
  const uint8_t* s = block + 96;
  const float d = load_f16(block + 108);
  for (int j = 0; j < 16; ++j) {
    const int low = j < 8 ? s[j] & 15 : s[j - 8] >> 4;
    const float scale = d * static_cast<float>((low | (s[8 + j % 4] >> j / 4 * 2 & 3) << 4) - 32);
    const uint8_t* bytes = q + j / 8 * 32 + j % 2 * 16;
    const uint8_t* high = h + j % 2 * 16;
    const int shift = j % 8 / 2 * 2;
    for (int i = 0; i < 16; ++i) {
      const int number = (bytes[i] >> shift & 3) + (high[i] >> j / 2 & 1) * 4 - 4;
      w[16 * j + i] = scale * static_cast<float>(number);
    }
  }
}

// The eight 6-bit scales and least values that q4_K and q5_K hold in 12 bytes.
static inline int k_scale(const uint8_t* s, int j) {
  return j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
}
static inline int k_least(const uint8_t* s, int j) {
  return j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
}

static inline void decode_q4_k(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const uint8_t* s = block + 4;
  const uint8_t* q = block + 16;
  for (int j = 0; j < 8; ++j) {  // 32 elements that share a scale
    const float scale = d * static_cast<float>(k_scale(s, j));
    const float least = m * static_cast<float>(k_least(s, j));
    const uint8_t* bytes = q + j / 2 * 32;
    const int shift = j % 2 * 4;
    for (int i = 0; i < 32; ++i)
      w[32 * j + i] = scale * static_cast<float>(bytes[i] >> shift & 15) - least;
  }
}

static inline void decode_q5_k(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const uint8_t* s = block + 4;
  const uint8_t* h = block + 16;
  const uint8_t* q = block + 48;
  for (int j = 0; j < 8; ++j) {
    const float scale = d * static_cast<float>(k_scale(s, j));
    const float least = m * static_cast<float>(k_least(s, j));
    const uint8_t* bytes = q + j / 2 * 32;
    const int shift = j % 2 * 4;
    for (int i = 0; i < 32; ++i) {
      const int number = (bytes[i] >> shift & 15) + (h[i] >> j & 1) * 16;
      w[32 * j + i] = scale * static_cast<float>(number) - least;
    }
  }
}

static inline void decode_q6_k(const uint8_t* block, float* w) {
  const uint8_t* l = block;
  const uint8_t* h = block + 128;
  const uint8_t* s = block + 192;
  const float d = load_f16(block + 208);
  for (int j = 0; j < 16; ++j) {
    const float scale = d * static_cast<float>(static_cast<int8_t>(s[j]));
    const int quarter = j % 8 / 2;  // of 128 elements
    const uint8_t* low = l + j / 8 * 64 + quarter % 2 * 32 + j % 2 * 16;
    const uint8_t* high = h + j / 8 * 32 + j % 2 * 16;
    const int low_shift = quarter / 2 * 4;
    const int high_shift = quarter * 2;
    for (int i = 0; i < 16; ++i) {
      const int number = (low[i] >> low_shift & 15) | (high[i] >> high_shift & 3) << 4;
      w[16 * j + i] = scale * static_cast<float>(number - 32);
    }
  }
}

// w[i] = scale * level of element i of 32, which has 4 bits in q.
static inline void decode_levels(const float (&levels)[16], float scale, const uint8_t* q,
                                 float* w) {
  for (int i = 0; i < 16; ++i) {
    w[i] = scale * levels[q[i] & 15];
    w[i + 16] = scale * levels[q[i] >> 4];
  }
}

static constexpr float kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                         1,    13,   25,  38,  53,  69,  89,  113};

static inline void decode_iq4_nl(const uint8_t* block, float* w) {
  decode_levels(kIq4Levels, load_f16(block), block + 2, w);
}

static inline void decode_iq4_xs(const uint8_t* block, float* w) {
  const float d = load_f16(block);
  const auto h = load_from<uint16_t>(block + 2);
  const uint8_t* l = block + 4;
  for (int j = 0; j < 8; ++j) {
    const int scale = (l[j / 2] >> j % 2 * 4 & 15) | (h >> 2 * j & 3) << 4;
    decode_levels(kIq4Levels, d * static_cast<float>(scale - 32), block + 8 + 16 * j, w + 32 * j);
  }
}

// 2^(e - 128), which can be a subnormal; NaN for e = 255.
static inline float half_of_e8m0(uint32_t e) {
  const float half = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  return e == 255 ? std::numeric_limits<float>::quiet_NaN() : half;
}

// Twice the values of OCP fp4 (e2m1), with half of the scale.
static inline void decode_mxfp4(const uint8_t* block, float* w) {
  constexpr float kTwice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  decode_levels(kTwice, half_of_e8m0(block[0]), block + 1, w);
}

static inline float f32_from_f8_e4m3(uint8_t x) {
  const uint32_t magnitude = x & 0x7Fu;
  if (magnitude == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  // The exponent's bias is 7 there and 127 here; the product is exact, also for a subnormal x.
  const float value = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | (x & 0x80u) << 24);
}

static inline void decode_f8_e4m3_128(const uint8_t* block, float* w) {
  const auto d = load_from<float>(block);
  for (int i = 0; i < 128; ++i) w[i] = d * f32_from_f8_e4m3(block[4 + i]);
}

}  // namespace colibri
