// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 to f32 and back, bit by bit: exact one way, rounded to nearest even the other way.
// Subnormals are numbers like all others, what is too large becomes infinite, a NaN stays a NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace colibri {

static inline float f32_from_bf16(uint16_t x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
}

static inline float f32_from_f16(uint16_t x) {
  const uint32_t sign = static_cast<uint32_t>(x & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(x & 0x7FFF) << 13;
  if (magnitude >= 0x7C00u << 13)
    return std::bit_cast<float>(sign | magnitude | 0x7F800000u);  // infinity, NaN
  // The exponent's bias is 15 there and 127 here; the product is exact, also for a subnormal x.
  const float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

static inline uint16_t f16_from_f32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u);   // NaN
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7C00u);  // from 2^16 on
  if (magnitude < 0x38800000u) {  // below 2^-14, f16's subnormals: the unit is 2^-24, and so is
                                  // that of floats from 0.5 on
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign |
                                 (std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f)));
  }
  magnitude += 0xFFFu + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (magnitude - 0x38000000u) >> 13);
}

static inline uint16_t bf16_from_f32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);  // NaN
  return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

}  // namespace colibri
