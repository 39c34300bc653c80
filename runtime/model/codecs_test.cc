// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/codecs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/base/decode_row.h"

namespace colibri::model {
namespace {

TEST(Codecs, NamesAndBlocks) {
  EXPECT_STREQ(codec_name(COLIBRI_CODEC_BF16), "bf16");
  EXPECT_EQ(codec_name(999), nullptr);
  EXPECT_EQ(codec_of_name("q4_0"), static_cast<uint32_t>(COLIBRI_CODEC_Q4_0));
  EXPECT_EQ(codec_of_name("Q4_0"), static_cast<uint32_t>(COLIBRI_CODEC_NONE));
  EXPECT_EQ(codec_block(COLIBRI_CODEC_Q8_0)->elements, 32);
  EXPECT_EQ(codec_block(COLIBRI_CODEC_Q8_0)->bytes, 34u);
  EXPECT_FALSE(codec_block(COLIBRI_CODEC_NONE).has_value());
  EXPECT_TRUE(is_weight_codec(COLIBRI_CODEC_Q4_0));
  EXPECT_FALSE(is_weight_codec(COLIBRI_CODEC_I32));
}

class CodecOf : public ::testing::Test {
 protected:
  Weight weight(Role role, int64_t cols, uint32_t codec = COLIBRI_CODEC_BF16) {
    tensor_.name = "w";
    tensor_.codec = codec;
    Weight weight;
    weight.role = role;
    weight.tensor = &tensor_;
    weight.rows = 4;
    weight.cols = cols;
    return weight;
  }
  TensorEntry tensor_;
};

TEST_F(CodecOf, EachGroupHasItsSetting) {
  config::Quantize quantize;
  quantize.experts = COLIBRI_CODEC_Q4_0;
  quantize.attention = COLIBRI_CODEC_Q8_0;
  quantize.router = COLIBRI_CODEC_F32;
  quantize.head = COLIBRI_CODEC_F16;
  for (const Role role : {Role::kGate, Role::kUp, Role::kDown}) {
    EXPECT_EQ(*codec_of(weight(role, 64), quantize), static_cast<uint32_t>(COLIBRI_CODEC_Q4_0));
  }
  for (const Role role : {Role::kQ, Role::kK, Role::kV, Role::kO}) {
    EXPECT_EQ(*codec_of(weight(role, 64), quantize), static_cast<uint32_t>(COLIBRI_CODEC_Q8_0));
  }
  EXPECT_EQ(*codec_of(weight(Role::kRouter, 64), quantize),
            static_cast<uint32_t>(COLIBRI_CODEC_F32));
  EXPECT_EQ(*codec_of(weight(Role::kHead, 64), quantize), static_cast<uint32_t>(COLIBRI_CODEC_F16));
  EXPECT_EQ(*codec_of(weight(Role::kEmbedding, 64), quantize),
            static_cast<uint32_t>(COLIBRI_CODEC_BF16));  // as stored
  for (const Role role : {Role::kFinalNorm, Role::kAttentionNorm, Role::kFfnNorm}) {
    EXPECT_EQ(*codec_of(weight(role, 64), {}), static_cast<uint32_t>(COLIBRI_CODEC_F32));
  }
}

TEST_F(CodecOf, RowsMustFillTheBlocks) {
  config::Quantize quantize;
  quantize.experts = COLIBRI_CODEC_Q4_0;
  EXPECT_EQ(
      codec_of(weight(Role::kGate, 40), quantize).status().text(),
      "gate 'w': has rows of 40 elements, and q4_0 needs a multiple of 32; choose f32, f16 or "
      "bf16 for it");
}

TEST_F(CodecOf, QuantisedWeightsAreNotQuantisedAgain) {
  config::Quantize quantize;
  quantize.experts = COLIBRI_CODEC_Q4_0;
  EXPECT_EQ(codec_of(weight(Role::kGate, 64, COLIBRI_CODEC_Q8_0), quantize).status().text(),
            "gate 'w': is stored as q8_0 and is not quantised again to q4_0");
  EXPECT_EQ(*codec_of(weight(Role::kGate, 64, COLIBRI_CODEC_Q4_0), quantize),
            static_cast<uint32_t>(COLIBRI_CODEC_Q4_0));
}

// The place of a number that is not finite, in every codec and at every edge of the scan's runs.
TEST(CheckFinite, FindsTheFirstElement) {
  struct Case {
    uint32_t codec;
    std::vector<uint64_t> bad;  // bit patterns
    uint64_t largest;           // a finite one
    size_t size;
  };
  const Case cases[] = {
      {COLIBRI_CODEC_F32, {0x7f800000, 0xff800000, 0x7f800001, 0xffc00000}, 0x7f7fffff, 4},
      {COLIBRI_CODEC_F16, {0x7c00, 0xfc00, 0x7c01, 0xfe00}, 0x7bff, 2},
      {COLIBRI_CODEC_BF16, {0x7f80, 0xff80, 0x7f81, 0xffc0}, 0x7f7f, 2},
  };
  for (const Case& c : cases) {
    const size_t count = 3000;
    std::vector<char> data(count * c.size);
    for (size_t i = 0; i < count; ++i) std::memcpy(&data[i * c.size], &c.largest, c.size);
    EXPECT_TRUE(check_finite(c.codec, data.data(), data.size(), "w").ok());
    for (const uint64_t bits : c.bad) {
      for (const size_t at : {size_t{0}, size_t{1023}, size_t{1024}, count - 1}) {
        std::vector<char> damaged = data;
        std::memcpy(&damaged[at * c.size], &bits, c.size);
        const Status status = check_finite(c.codec, damaged.data(), damaged.size(), "w", 7);
        EXPECT_EQ(status.code(), COLIBRI_CORRUPT_DATA);
        EXPECT_EQ(status.text().substr(0, status.text().find(" is")),
                  "w: element " + std::to_string(at + 7));
      }
    }
  }
}

TEST(CheckFinite, OfQuantisedBlocksTheScalesCount) {
  std::vector<unsigned char> blocks(3 * 34, 0xff);
  for (size_t i = 0; i < 3; ++i) blocks[34 * i] = blocks[34 * i + 1] = 0;
  EXPECT_TRUE(check_finite(COLIBRI_CODEC_Q8_0, blocks.data(), blocks.size(), "w").ok());
  blocks[34 * 2 + 1] = 0x7c;
  const Status status = check_finite(COLIBRI_CODEC_Q8_0, blocks.data(), blocks.size(), "w");
  EXPECT_TRUE(status.text().starts_with("w: element 64 is NaN or infinite")) << status.text();
}

// Of random blocks of every quantised codec, just those are refused that hold a number which is not.
TEST(CheckFinite, AgreesWithTheDecodedNumbers) {
  std::mt19937 random(1);
  for (const CodecFacts& facts : kCodecFacts) {
    if (!facts.weights || facts.elements == 1) continue;
    std::vector<uint8_t> block(static_cast<size_t>(facts.bytes));
    std::vector<float> numbers(static_cast<size_t>(facts.elements));
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
      for (uint8_t& byte : block) byte = static_cast<uint8_t>(random());
      ASSERT_TRUE(decode_row(facts.id, block.data(), facts.elements, numbers.data()));
      const bool finite = std::all_of(numbers.begin(), numbers.end(),
                                      [](float number) { return std::isfinite(number); });
      ASSERT_EQ(check_finite(facts.id, block.data(), block.size(), "w").ok(), finite) << facts.name;
      refused += finite ? 0 : 1;
    }
    EXPECT_GT(refused, 5) << facts.name;
    EXPECT_LT(refused, 1900) << facts.name;
  }
}

}  // namespace
}  // namespace colibri::model
