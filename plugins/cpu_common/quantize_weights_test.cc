// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/quantize_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/base/small_floats.h"

namespace colibri::cpu {
namespace {

TEST(QuantizeWeights, Q8RoundsTiesAwayFromZero) {
  float x[32] = {};
  x[0] = -127;
  x[1] = 2.5f;
  x[2] = -2.5f;
  x[31] = 0.4f;
  Q8Block block;
  quantize_q8_0(x, &block);
  EXPECT_EQ(f32_from_f16(block.scale), 1);
  EXPECT_EQ(block.q[0], -127);
  EXPECT_EQ(block.q[1], 3);
  EXPECT_EQ(block.q[2], -3);
  EXPECT_EQ(block.q[31], 0);
}

TEST(QuantizeWeights, Q4TakesTheSignOfTheLargest) {
  float x[32] = {};
  x[0] = 8;   // the first of two largest: the scale is -1
  x[1] = -8;  // would be 16: cut to 15
  x[2] = 0.5f;
  x[16] = -3;
  Q4Block block;
  quantize_q4_0(x, &block);
  EXPECT_EQ(f32_from_f16(block.scale), -1);
  EXPECT_EQ(block.q[0] & 15, 0);
  EXPECT_EQ(block.q[0] >> 4, 11);
  EXPECT_EQ(block.q[1] & 15, 15);
  EXPECT_EQ(block.q[2] & 15, 8);
  EXPECT_EQ(block.q[3], 0x88);
}

TEST(QuantizeWeights, ZeroTinyAndNotFiniteBlocks) {
  Q8Block q8;
  Q4Block q4;
  for (float value : {0.0f, 1e-40f, std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()}) {
    float x[32] = {};
    x[7] = value;
    quantize_q8_0(x, &q8);
    quantize_q4_0(x, &q4);
    EXPECT_EQ(std::isnan(f32_from_f16(q8.scale)), !std::isfinite(value));
    EXPECT_EQ(std::isnan(f32_from_f16(q4.scale)), !std::isfinite(value));
    if (std::isfinite(value)) {
      EXPECT_EQ(q8.scale, 0);
      EXPECT_EQ(q4.scale, 0x8000);  // -0, as in GGUF's reference
    }
    for (int8_t q : q8.q) EXPECT_EQ(q, 0);
    for (uint8_t q : q4.q) EXPECT_EQ(q, 0x88);
  }
}

}  // namespace
}  // namespace colibri::cpu
