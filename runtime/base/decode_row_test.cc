// SPDX-License-Identifier: Apache-2.0
// Every codec's numbers are, to the bit, those that gguf-py gives (tests/golden/codecs).
#include "runtime/base/decode_row.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace colibri {
namespace {

constexpr int64_t kBlocks = 8;  // of each file

class DecodeRow : public ::testing::TestWithParam<uint32_t> {};

TEST_P(DecodeRow, GivesTheNumbersOfGgml) {
  const CodecFacts& facts = *codec_facts(GetParam());
  const std::string path = std::string("tests/golden/codecs/") + facts.name + ".bin";
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto coded = static_cast<size_t>(kBlocks * facts.bytes);
  const auto count = static_cast<size_t>(kBlocks * facts.elements);
  ASSERT_EQ(bytes.size(), coded + count * 4) << path;
  std::vector<float> decoded(count);
  ASSERT_TRUE(decode_row(GetParam(), reinterpret_cast<const uint8_t*>(bytes.data()),
                         kBlocks * facts.elements, decoded.data()));
  for (size_t i = 0; i < count; ++i) {
    const auto wanted =
        load_from<uint32_t>(reinterpret_cast<const uint8_t*>(bytes.data() + coded + 4 * i));
    ASSERT_EQ(std::bit_cast<uint32_t>(decoded[i]), wanted)
        << "element " << i << ": " << decoded[i] << " and not " << std::bit_cast<float>(wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, DecodeRow,
                         ::testing::Values(COLIBRI_CODEC_Q4_0, COLIBRI_CODEC_Q8_0,
                                           COLIBRI_CODEC_Q4_1, COLIBRI_CODEC_Q5_0,
                                           COLIBRI_CODEC_Q5_1, COLIBRI_CODEC_Q2_K,
                                           COLIBRI_CODEC_Q3_K, COLIBRI_CODEC_Q4_K,
                                           COLIBRI_CODEC_Q5_K, COLIBRI_CODEC_Q6_K,
                                           COLIBRI_CODEC_IQ4_NL, COLIBRI_CODEC_IQ4_XS,
                                           COLIBRI_CODEC_MXFP4),
                         [](const auto& test) { return codec_facts(test.param)->name; });

TEST(DecodeF8, FollowsItsDefinition) {
  uint8_t block[132];
  const float d = 0.75f;
  std::memcpy(block, &d, 4);
  float w[128];
  for (int sign = 0; sign < 2; ++sign) {
    for (int i = 0; i < 128; ++i) block[4 + i] = static_cast<uint8_t>(128 * sign + i);
    ASSERT_TRUE(decode_row(COLIBRI_CODEC_F8_E4M3_128, block, 128, w));
    for (int i = 0; i < 127; ++i) {
      const int exponent = i >> 3;
      const int mantissa = i & 7;
      const double magnitude =
          exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
      EXPECT_EQ(w[i], static_cast<float>((sign == 0 ? 0.75 : -0.75) * magnitude)) << i;
      EXPECT_EQ(std::signbit(w[i]), sign == 1) << i;
    }
    EXPECT_TRUE(std::isnan(w[127]));
  }
}

TEST(DecodeMxfp4, TheLargestExponentIsNaN) {
  uint8_t block[17] = {255, 0x21};
  float w[32];
  ASSERT_TRUE(decode_row(COLIBRI_CODEC_MXFP4, block, 32, w));
  for (const float x : w) EXPECT_TRUE(std::isnan(x));
}

TEST(DecodeRowOfNumbers, PlainFloats) {
  const uint16_t halves[2] = {0x3C00, 0xC000};
  float w[2];
  ASSERT_TRUE(decode_row(COLIBRI_CODEC_F16, reinterpret_cast<const uint8_t*>(halves), 2, w));
  EXPECT_EQ(w[0], 1);
  EXPECT_EQ(w[1], -2);
  ASSERT_TRUE(decode_row(COLIBRI_CODEC_BF16, reinterpret_cast<const uint8_t*>(halves), 2, w));
  EXPECT_EQ(w[0], 0.0078125f);
  const float numbers[2] = {3, 4};
  ASSERT_TRUE(decode_row(COLIBRI_CODEC_F32, reinterpret_cast<const uint8_t*>(numbers), 2, w));
  EXPECT_EQ(w[1], 4);
  EXPECT_FALSE(decode_row(COLIBRI_CODEC_I32, reinterpret_cast<const uint8_t*>(numbers), 2, w));
}

}  // namespace
}  // namespace colibri
