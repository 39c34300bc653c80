// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/pack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/packed_part.h"
#include "runtime/base/decode_row.h"
#include "runtime/base/small_floats.h"
#include "tests/conformance/questions.h"

namespace colibri::cpu {
namespace {

colibri_layout r8(uint32_t codec) {
  return {sizeof(colibri_layout), COLIBRI_LAYOUT_R8, codec, 8, 1, 0};
}

colibri_tensor rows_of(uint32_t codec, int64_t rows, int64_t cols, int64_t stride,
                       const void* bytes) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = codec;
  tensor.rank = 2;
  tensor.shape[0] = rows;
  tensor.shape[1] = cols;
  tensor.stride[0] = stride;
  tensor.buffer = const_cast<void*>(bytes);
  return tensor;
}

TEST(Pack, FloatsStandColumnByColumn) {
  std::vector<float> numbers;
  for (int i = 0; i < 3 * 5; ++i) numbers.push_back(static_cast<float>(i));
  const colibri_layout layout = r8(COLIBRI_CODEC_BF16);
  const colibri_tensor from = rows_of(COLIBRI_CODEC_F32, 3, 5, 20, numbers.data());
  std::vector<uint16_t> to(2 * 5 * 8, 0x1234);
  ASSERT_EQ(pack(&layout, &from, to.data(), 8), COLIBRI_OK);  // the second panel
  for (size_t column = 0; column < 5; ++column) {
    for (size_t row = 0; row < 8; ++row) {
      EXPECT_EQ(to[column * 8 + row], 0x1234);
      const float want = row < 3 ? static_cast<float>(row * 5 + column) : 0;
      EXPECT_EQ(f32_from_bf16(to[40 + column * 8 + row]), want);
    }
  }
}

TEST(Pack, Q4KeepsTheBytesOfItsBlocks) {
  std::vector<uint8_t> blocks;  // 9 rows of one block: scale 16 row + 1, bytes row * 16 + i
  for (int row = 0; row < 9; ++row) {
    blocks.push_back(static_cast<uint8_t>(row + 1));
    blocks.push_back(0x3C);
    for (int i = 0; i < 16; ++i) blocks.push_back(static_cast<uint8_t>(row * 16 + i));
  }
  const colibri_layout layout = r8(COLIBRI_CODEC_Q4_0);
  const colibri_tensor from = rows_of(COLIBRI_CODEC_Q4_0, 9, 32, 18, blocks.data());
  std::vector<uint8_t> to(288);
  ASSERT_EQ(pack(&layout, &from, to.data(), 0), COLIBRI_OK);
  for (int row = 0; row < 16; ++row) {
    const uint8_t* block = to.data() + row / 8 * 144;
    const int r = row % 8;
    EXPECT_EQ(block[2 * r], row < 9 ? row + 1 : 0);
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(block[16 + i / 4 * 32 + 4 * r + i % 4],
                row < 9 ? static_cast<uint8_t>(row * 16 + i) : 0);
    }
  }
}

// The layout of every quantised codec holds what the file holds.
TEST(Pack, QuantisedCodecsKeepTheirNumbers) {
  for (const uint32_t codec : conformance::kQuantisedCodecs) {
    conformance::Random random(codec);
    const int64_t cols = 3 * codec_facts(codec)->elements;
    const conformance::SourceMatrix weight = conformance::make_weight(random, codec, 11, cols);
    const colibri_layout layout = r8(codec);
    std::vector<uint8_t> packed(static_cast<size_t>(2 * panel_bytes(codec, cols)));
    const colibri_tensor first = rows_of(codec, 8, cols, weight.stride, weight.bytes.data());
    const colibri_tensor last =
        rows_of(codec, 3, cols, weight.stride, weight.bytes.data() + 8 * weight.stride);
    ASSERT_EQ(pack(&layout, &first, packed.data(), 0), COLIBRI_OK);
    ASSERT_EQ(pack(&layout, &last, packed.data(), 8), COLIBRI_OK);
    std::vector<float> want(static_cast<size_t>(cols));
    for (int64_t row = 0; row < weight.rows; ++row) {
      ASSERT_TRUE(decode_row(codec, weight.bytes.data() + row * weight.stride, cols, want.data()));
      for (int64_t part = 0; part < cols / 32; ++part) {
        float got[32];
        packed_part(codec, packed.data(), cols, row, part).numbers(got);
        EXPECT_EQ(std::memcmp(got, want.data() + part * 32, sizeof(got)), 0)
            << codec_facts(codec)->name << " row " << row << " part " << part;
      }
    }
  }
}

TEST(Pack, DecodedCodecsStayAsTheyAre) {
  constexpr uint32_t kCodec = COLIBRI_CODEC_F8_E4M3_128;
  std::vector<uint8_t> rows(2 * 140);  // rows of one block, 140 bytes apart
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint8_t>(i);
  const colibri_layout layout = {sizeof(layout), COLIBRI_LAYOUT_ROWS, kCodec, 1, 128, 1};
  const colibri_tensor from = rows_of(kCodec, 2, 128, 140, rows.data());
  std::vector<uint8_t> to(3 * 132, 0xEE);
  ASSERT_EQ(pack(&layout, &from, to.data(), 1), COLIBRI_OK);
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t want = i < 132 ? 0xEE : i < 264 ? i - 132 : i - 264 + 140;
    EXPECT_EQ(to[i], static_cast<uint8_t>(want)) << i;
  }
  const colibri_layout interleaved = r8(kCodec);
  EXPECT_EQ(pack(&interleaved, &from, to.data(), 0), COLIBRI_UNSUPPORTED);
}

TEST(Pack, RefusesWhatItCannotPack) {
  std::vector<float> numbers(64);
  std::vector<uint8_t> to(4096);
  const colibri_tensor f32 = rows_of(COLIBRI_CODEC_F32, 1, 33, 132, numbers.data());
  const colibri_tensor q8 = rows_of(COLIBRI_CODEC_Q8_0, 1, 32, 34, numbers.data());
  const colibri_layout q4_0 = r8(COLIBRI_CODEC_Q4_0);
  const colibri_layout bf16 = r8(COLIBRI_CODEC_BF16);
  EXPECT_EQ(pack(&q4_0, &f32, to.data(), 0), COLIBRI_INVALID_ARGUMENT);  // 33 columns
  EXPECT_EQ(pack(&bf16, &f32, to.data(), 4), COLIBRI_INVALID_ARGUMENT);  // the middle of a panel
  EXPECT_EQ(pack(&bf16, &q8, to.data(), 0), COLIBRI_UNSUPPORTED);  // quantised to another codec
  const colibri_tensor f32_block = rows_of(COLIBRI_CODEC_F32, 1, 32, 128, numbers.data());
  const colibri_layout iq4_nl = r8(COLIBRI_CODEC_IQ4_NL);
  EXPECT_EQ(pack(&iq4_nl, &f32_block, to.data(), 0), COLIBRI_UNSUPPORTED);  // made by nobody here
  EXPECT_EQ(pack(&bf16, nullptr, to.data(), 0), COLIBRI_INVALID_ARGUMENT);
  colibri_layout unknown = bf16;
  unknown.id = COLIBRI_LAYOUT_PRIVATE;
  EXPECT_EQ(pack(&unknown, &f32, to.data(), 0), COLIBRI_UNSUPPORTED);
}

}  // namespace
}  // namespace colibri::cpu
