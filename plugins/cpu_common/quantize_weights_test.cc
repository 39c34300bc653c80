// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/quantize_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "colibri/codec.h"
#include "runtime/base/codec_facts.h"
#include "runtime/base/decode_row.h"
#include "runtime/base/small_floats.h"

namespace colibri::cpu {
namespace {

class QuantizeWeights : public ::testing::TestWithParam<uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Codecs, QuantizeWeights,
                         ::testing::Values(COLIBRI_CODEC_Q8_0, COLIBRI_CODEC_Q4_0,
                                           COLIBRI_CODEC_Q4_1, COLIBRI_CODEC_Q5_0,
                                           COLIBRI_CODEC_Q5_1),
                         [](const auto& test) { return codec_facts(test.param)->name; });

// tools/goldens/make_codec_values.py
TEST_P(QuantizeWeights, MakesTheBlocksOfGguf) {
  constexpr size_t kBlocks = 48;
  const CodecFacts& facts = *codec_facts(GetParam());
  const std::string path = std::string("tests/golden/codecs/quantised/") + facts.name + ".bin";
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto size = static_cast<size_t>(facts.bytes);
  ASSERT_EQ(bytes.size(), kBlocks * (32 * 4 + size)) << path;
  for (size_t i = 0; i < kBlocks; ++i) {
    float numbers[32];
    std::memcpy(numbers, bytes.data() + i * sizeof(numbers), sizeof(numbers));
    std::vector<uint8_t> block(size);
    quantize_weights(GetParam(), numbers, block.data());
    const char* want = bytes.data() + kBlocks * sizeof(numbers) + i * size;
    EXPECT_EQ(std::memcmp(block.data(), want, size), 0) << "block " << i;
  }
}

TEST_P(QuantizeWeights, ZeroTinyAndNotFiniteBlocks) {
  const CodecFacts& facts = *codec_facts(GetParam());
  for (const float value : {0.0f, 1e-40f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    float x[32] = {};
    x[7] = value;
    std::vector<uint8_t> block(static_cast<size_t>(facts.bytes));
    quantize_weights(GetParam(), x, block.data());
    float decoded[32];
    ASSERT_TRUE(decode_row(GetParam(), block.data(), 32, decoded));
    for (const float number : decoded) {
      if (std::isfinite(value)) {
        EXPECT_EQ(number, 0) << value;
      } else {
        EXPECT_TRUE(std::isnan(number)) << value;
      }
    }
  }
}

TEST(QuantizeToQ8, RoundsTiesAwayFromZero) {
  float x[32] = {};
  x[0] = -127;
  x[1] = 2.5f;
  x[2] = -2.5f;
  x[31] = 0.4f;
  uint8_t block[34];
  quantize_weights(COLIBRI_CODEC_Q8_0, x, block);
  int8_t q[32];
  std::memcpy(q, block + 2, sizeof(q));
  EXPECT_EQ(q[0], -127);
  EXPECT_EQ(q[1], 3);
  EXPECT_EQ(q[2], -3);
  EXPECT_EQ(q[31], 0);
}

TEST(QuantizeToQ4, TakesTheSignOfTheLargest) {
  float x[32] = {};
  x[0] = 8;   // the first of two largest: the scale is -1
  x[1] = -8;  // would be 16: cut to 15
  x[2] = 0.5f;
  x[16] = -3;
  uint8_t block[18];
  quantize_weights(COLIBRI_CODEC_Q4_0, x, block);
  uint16_t scale;
  std::memcpy(&scale, block, sizeof(scale));
  EXPECT_EQ(f32_from_f16(scale), -1);
  EXPECT_EQ(block[2] & 15, 0);
  EXPECT_EQ(block[2] >> 4, 11);
  EXPECT_EQ(block[3] & 15, 15);
  EXPECT_EQ(block[4] & 15, 8);
  EXPECT_EQ(block[5], 0x88);
}

TEST(CanQuantizeTo, NamesWhatItMakes) {
  EXPECT_TRUE(can_quantize_to(COLIBRI_CODEC_Q5_1));
  for (const uint32_t codec : {COLIBRI_CODEC_F32, COLIBRI_CODEC_Q4_K, COLIBRI_CODEC_IQ4_NL}) {
    EXPECT_FALSE(can_quantize_to(codec)) << codec;
  }
}

}  // namespace
}  // namespace colibri::cpu
