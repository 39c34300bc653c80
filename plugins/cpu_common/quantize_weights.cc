// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "colibri/codec.h"
#include "runtime/base/small_floats.h"

namespace colibri::cpu {
namespace {

constexpr uint16_t kF16NaN = 0x7E00;
constexpr float kSmallestScale =
    std::numeric_limits<float>::min();  // a smaller one, 0 as f16, may have no finite inverse

// A block is its scale, its offset if it has one, the fifth bits if it has them, and the rest.
struct Form {
  int bits = 0;
  bool offset =
      false;  // the least number is an offset and integers begin at 0; else they are signed
};

Form form_of(uint32_t codec) {
  switch (codec) {
    case COLIBRI_CODEC_Q8_0:
      return {8, false};
    case COLIBRI_CODEC_Q4_0:
      return {4, false};
    case COLIBRI_CODEC_Q4_1:
      return {4, true};
    case COLIBRI_CODEC_Q5_0:
      return {5, false};
    case COLIBRI_CODEC_Q5_1:
      return {5, true};
    default:
      return {};
  }
}

void store_f16(uint16_t half, uint8_t*& to) {
  std::memcpy(to, &half, sizeof(half));
  to += sizeof(half);
}

float inverse_of(float scale) {
  return std::fabs(scale) < kSmallestScale ? 0 : 1 / scale;
}

// Integers of four or five bits: number i in the low nibble of byte i, i + 16 in the high one.
void store_nibbles(int bits, const int (&q)[32], uint8_t* to) {
  if (bits == 5) {
    uint32_t fifth = 0;
    for (int i = 0; i < 32; ++i) fifth |= static_cast<uint32_t>(q[i] >> 4) << i;
    std::memcpy(to, &fifth, sizeof(fifth));
    to += sizeof(fifth);
  }
  for (int i = 0; i < 16; ++i) to[i] = static_cast<uint8_t>((q[i] & 15) | (q[i + 16] & 15) << 4);
}

// The number of the largest magnitude, the first of several.
float extreme(const float* weights) {
  float most = 0;
  for (int i = 0; i < 32; ++i) {
    if (std::fabs(weights[i]) > std::fabs(most)) most = weights[i];
  }
  return most;
}

void quantize_bytes(const float* weights, bool finite, uint8_t* to) {
  const float scale = std::fabs(extreme(weights)) / 127;
  const float inverse = finite ? inverse_of(scale) : 0;
  store_f16(finite ? f16_from_f32(scale) : kF16NaN, to);
  for (int i = 0; i < 32; ++i) {
    const float q = inverse == 0 ? 0 : std::round(weights[i] * inverse);
    to[i] = static_cast<uint8_t>(static_cast<int8_t>(q));
  }
}

void quantize_signed(int bits, const float* weights, bool finite, uint8_t* to) {
  const int middle = 1 << (bits - 1);
  const float scale = extreme(weights) / static_cast<float>(-middle);
  const float inverse = finite ? inverse_of(scale) : 0;
  store_f16(finite ? f16_from_f32(scale) : kF16NaN, to);
  int q[32];
  for (int i = 0; i < 32; ++i) {
    const float above = static_cast<float>(middle) + 0.5f;
    q[i] = inverse == 0 ? middle
                        : std::min(2 * middle - 1, static_cast<int>(weights[i] * inverse + above));
  }
  store_nibbles(bits, q, to);
}

void quantize_offset(int bits, const float* weights, bool finite, uint8_t* to) {
  const auto [least, most] = std::minmax_element(weights, weights + 32);
  const int largest = (1 << bits) - 1;
  const float scale = (*most - *least) / static_cast<float>(largest);
  const float inverse = finite && std::isfinite(scale) ? inverse_of(scale) : 0;
  store_f16(finite ? f16_from_f32(scale) : kF16NaN, to);
  store_f16(finite ? f16_from_f32(*least) : kF16NaN, to);
  int q[32];
  for (int i = 0; i < 32; ++i) {
    q[i] = inverse == 0
               ? 0
               : std::min(largest,
                          static_cast<int>(std::floor((weights[i] - *least) * inverse + 0.5f)));
  }
  store_nibbles(bits, q, to);
}

}  // namespace

bool can_quantize_to(uint32_t codec) {
  return form_of(codec).bits != 0;
}

void quantize_weights(uint32_t codec, const float weights[32], uint8_t* block) {
  const Form form = form_of(codec);
  const bool finite = std::all_of(weights, weights + 32, [](float x) { return std::isfinite(x); });
  if (form.bits == 8) return quantize_bytes(weights, finite, block);
  if (form.offset) return quantize_offset(form.bits, weights, finite, block);
  quantize_signed(form.bits, weights, finite, block);
}

}  // namespace colibri::cpu
