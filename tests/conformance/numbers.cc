// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/decode_row.h"
#include "runtime/base/small_floats.h"

namespace colibri::conformance {

uint64_t Random::next() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return state_ * 0x2545F4914F6CDD1Dull;
}

float Random::uniform() {
  return static_cast<float>(static_cast<int32_t>(next() >> 40) - (1 << 23)) * 0x1p-23f;
}

const char* style_name(Style style) {
  switch (style) {
    case Style::kPlain:
      return "plain";
    case Style::kExtreme:
      return "extreme";
    default:
      return "not finite";
  }
}

namespace {

float extreme_number(Random& random) {
  switch (random.below(8)) {
    case 0:
      return 0.0f;
    case 1:
      return -0.0f;
    case 2:
      return random.uniform() * 1e-41f;  // subnormal
    case 3:
      return random.uniform() * 1e-36f;  // scales of q8_32 next to the smallest normal number
    case 4:
      return static_cast<float>(random.below(255) - 127) + 0.5f;
    case 5:
      return random.uniform() * 1e30f;
    default:
      return random.uniform();
  }
}

}  // namespace

std::vector<float> make_rows(Random& random, Style style, int64_t rows, int64_t cols) {
  std::vector<float> numbers(static_cast<size_t>(rows * cols));
  for (float& x : numbers) x = style == Style::kExtreme ? extreme_number(random) : random.uniform();
  if (style == Style::kExtreme && rows > 0) {  // a row whose maximum is exactly 127 has ties
    for (int64_t i = 0; i < cols; ++i)
      numbers[static_cast<size_t>(i)] = i % 32 == 3 ? 127.0f : static_cast<float>(i % 32) + 0.5f;
  }
  if (style == Style::kNotFinite) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float specials[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
    for (int64_t row = 0; row < rows; row += 2) {
      numbers[static_cast<size_t>(row * cols + random.below(cols))] = specials[row / 2 % 3];
    }
  }
  return numbers;
}

namespace {

// Where the f16 numbers of a block begin, and how many of them there are.
struct F16Fields {
  int64_t first, count;
};
F16Fields f16_fields(uint32_t codec) {
  switch (codec) {
    case COLIBRI_CODEC_Q2_K:
      return {80, 2};
    case COLIBRI_CODEC_Q3_K:
      return {108, 1};
    case COLIBRI_CODEC_Q6_K:
      return {208, 1};
    case COLIBRI_CODEC_Q4_1:
    case COLIBRI_CODEC_Q5_1:
    case COLIBRI_CODEC_Q4_K:
    case COLIBRI_CODEC_Q5_K:
      return {0, 2};
    case COLIBRI_CODEC_MXFP4:
    case COLIBRI_CODEC_F8_E4M3_128:
      return {0, 0};
    default:
      return {0, 1};
  }
}

// Random bytes, sometimes the same ones everywhere (the largest and the smallest integers), again and
// again until the block's numbers are of a model's size.
void make_block(Random& random, const CodecFacts& facts, uint8_t* block) {
  std::vector<float> numbers(static_cast<size_t>(facts.elements));
  const auto fits = [](float number) { return std::fabs(number) < 16; };
  const F16Fields f16 = f16_fields(facts.id);
  do {
    const bool same = f16.count > 0 && random.below(4) == 0;
    const auto extreme = static_cast<uint8_t>(random.below(2) == 0 ? 0xFF : random.below(2) * 0x80);
    for (int64_t i = 0; i < facts.bytes; ++i)
      block[i] = same ? extreme : static_cast<uint8_t>(random.next() >> 32);
    for (int64_t i = 0; i < f16.count; ++i) {
      const uint16_t number = f16_from_f32(random.uniform() / 64);
      std::memcpy(block + f16.first + 2 * i, &number, 2);
    }
    decode_row(facts.id, block, facts.elements, numbers.data());
  } while (!std::all_of(numbers.begin(), numbers.end(), fits));
}

}  // namespace

SourceMatrix make_weight(Random& random, uint32_t codec, int64_t rows, int64_t cols) {
  SourceMatrix made;
  made.codec = codec;
  made.rows = rows;
  made.cols = cols;
  made.stride = cpu::file_row_bytes(codec, cols);
  made.bytes.resize(static_cast<size_t>(rows * made.stride));
  uint8_t* to = made.bytes.data();
  for (int64_t i = 0; i < static_cast<int64_t>(made.bytes.size());) {
    float x = random.uniform();
    if (random.below(32) == 0) x *= codec == COLIBRI_CODEC_F16 ? 1e-5f : 1e-38f;  // subnormal
    const uint16_t f16 = f16_from_f32(x);
    const uint16_t bf16 = bf16_from_f32(x);
    switch (codec) {
      case COLIBRI_CODEC_F32:
        std::memcpy(to + i, &x, 4);
        i += 4;
        break;
      case COLIBRI_CODEC_F16:
        std::memcpy(to + i, &f16, 2);
        i += 2;
        break;
      case COLIBRI_CODEC_BF16:
        std::memcpy(to + i, &bf16, 2);
        i += 2;
        break;
      default:
        make_block(random, *codec_facts(codec), to + i);
        i += codec_facts(codec)->bytes;
    }
  }
  return made;
}

const char* codec_name(uint32_t codec) {
  const CodecFacts* facts = codec_facts(codec);
  return facts == nullptr ? "?" : facts->name;
}

}  // namespace colibri::conformance
