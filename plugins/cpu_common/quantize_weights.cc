// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/base/small_floats.h"

namespace colibri::cpu {
namespace {

constexpr uint16_t kF16NaN = 0x7E00;
constexpr float kSmallestScale =
    std::numeric_limits<float>::min();  // a smaller one, 0 as f16, may have no finite inverse

// The number of the largest magnitude, the first of several; NaN if one is not finite.
float extreme(const float* weights) {
  float most = 0;
  for (int i = 0; i < 32; ++i) {
    if (!std::isfinite(weights[i])) return std::numeric_limits<float>::quiet_NaN();
    if (std::fabs(weights[i]) > std::fabs(most)) most = weights[i];
  }
  return most;
}

}  // namespace

void quantize_q8_0(const float weights[32], Q8Block* block) {
  const float most = std::fabs(extreme(weights));
  std::memset(block, 0, sizeof(*block));
  if (std::isnan(most)) {
    block->scale = kF16NaN;
    return;
  }
  const float scale = most / 127;
  block->scale = f16_from_f32(scale);
  if (scale < kSmallestScale) return;
  const float inverse = 1 / scale;
  for (int i = 0; i < 32; ++i) block->q[i] = static_cast<int8_t>(std::round(weights[i] * inverse));
}

void quantize_q4_0(const float weights[32], Q4Block* block) {
  const float most = extreme(weights);
  std::memset(block->q, 0x88, sizeof(block->q));
  if (std::isnan(most)) {
    block->scale = kF16NaN;
    return;
  }
  const float scale = most / -8;
  block->scale = f16_from_f32(scale);
  if (std::fabs(scale) < kSmallestScale) return;
  const float inverse = 1 / scale;
  auto nibble = [&](int i) { return std::min(15, static_cast<int>(weights[i] * inverse + 8.5f)); };
  for (int i = 0; i < 16; ++i) block->q[i] = static_cast<uint8_t>(nibble(i) | nibble(i + 16) << 4);
}

}  // namespace colibri::cpu
