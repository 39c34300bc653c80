// SPDX-License-Identifier: Apache-2.0
// Every way in which rows may lie in a tensor, read in pieces of every size, against a plain
// rearrangement of the whole tensor.
#include "runtime/model/rows.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/decode_row.h"
#include "runtime/model/codecs.h"
#include "runtime/model/fake_format.h"

namespace colibri::model {
namespace {

namespace fs = std::filesystem;

struct Matrix {
  int64_t rows = 0, cols = 0;
  std::vector<float> values;

  float& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * cols + c)]; }
};

Matrix transposed(Matrix from) {
  Matrix to = {from.cols, from.rows, std::vector<float>(from.values.size())};
  for (int64_t r = 0; r < from.rows; ++r) {
    for (int64_t c = 0; c < from.cols; ++c) to.at(c, r) = from.at(r, c);
  }
  return to;
}

// What a map means, step by step.
Matrix meant(const RowMap& map, Matrix matrix) {
  if (map.transpose) matrix = transposed(std::move(matrix));
  Matrix result = {0, map.transpose_groups ? map.count : matrix.cols, {}};
  for (int64_t group = 0; group < matrix.rows / map.group; ++group) {
    Matrix piece = {map.count, matrix.cols, {}};
    for (int64_t r = 0; r < map.count; ++r) {
      for (int64_t c = 0; c < matrix.cols; ++c) {
        piece.values.push_back(matrix.at(group * map.group + map.from + r, c));
      }
    }
    if (map.transpose_groups) piece = transposed(std::move(piece));
    result.rows += piece.rows;
    result.values.insert(result.values.end(), piece.values.begin(), piece.values.end());
  }
  return result;
}

class RowsTest : public ::testing::Test {
 protected:
  // The tensors of the format, filled by fill(i) for byte i of the file.
  template <typename Fill>
  void open(Fill fill) {
    std::string bytes;
    const FakeFormat::Tensor& last = format_.tensors.back();
    for (uint64_t i = 0; i < last.offset + last.bytes; ++i) bytes += fill(i);
    std::ofstream(folder_ / "w", std::ios::binary) << bytes;
    auto files = ModelFiles::open(folder_);
    ASSERT_TRUE(files.ok()) << files.status().text();
    auto source = ModelSource::open(std::move(*files), format_.table());
    ASSERT_TRUE(source.ok()) << source.status().text();
    source_ = std::move(*source);
    bytes_ = std::move(bytes);
  }

  // A weight of the first tensor; the second, if there is one, has its scales.
  Weight weight(const RowMap& map, int64_t rows, int64_t cols) const {
    Weight weight;
    weight.tensor = source_->find("w");
    weight.scales = source_->find("scales");
    weight.rows = rows;
    weight.cols = cols;
    weight.map = map;
    return weight;
  }

  // Rows [begin, end) as f32.
  std::vector<float> read(const Weight& weight, int64_t begin, int64_t end) const {
    const uint64_t bytes = static_cast<uint64_t>(end - begin) * row_bytes(weight);
    // Exactly what is asked for, so that sanitizers see what is beyond.
    std::vector<std::byte> to(bytes), scratch(rows_scratch_bytes(weight, end - begin));
    const Status status = read_rows(*source_, weight, begin, end, to.data(), scratch.data());
    EXPECT_TRUE(status.ok()) << status.text();
    std::vector<float> numbers(static_cast<size_t>((end - begin) * weight.cols));
    EXPECT_TRUE(decode_row(weight.codec(), reinterpret_cast<const uint8_t*>(to.data()),
                           (end - begin) * weight.cols, numbers.data()));
    return numbers;
  }

  // Reads the weight in pieces of every size.
  void expect(const RowMap& map, const Matrix& stored) const {
    const Matrix wanted = meant(map, stored);
    const Weight whole = weight(map, wanted.rows, wanted.cols);
    EXPECT_EQ(whole.bytes(), static_cast<uint64_t>(wanted.rows) * row_bytes(whole));
    for (int64_t step = 1; step <= wanted.rows; ++step) {
      std::vector<float> all;
      for (int64_t begin = 0; begin < wanted.rows; begin += step) {
        const auto piece = read(whole, begin, std::min(begin + step, wanted.rows));
        all.insert(all.end(), piece.begin(), piece.end());
      }
      ASSERT_EQ(all, wanted.values) << "in pieces of " << step;
    }
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  FakeFormat format_;
  std::unique_ptr<ModelSource> source_;
  std::string bytes_;
};

// A bf16 tensor [3 experts, 6, 4] whose elements are 1, 2, 3, ...
class PlainRows : public RowsTest {
 protected:
  void SetUp() override {
    RowsTest::SetUp();
    format_.add("w", {3, 6, 4}, COLIBRI_CODEC_BF16);
    open([](uint64_t i) {
      const float value = static_cast<float>(i / 2 + 1);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      return static_cast<char>(bits >> (i % 2 == 0 ? 16 : 24));
    });
    for (int i = 0; i < 24; ++i) second_.values.push_back(static_cast<float>(24 + i + 1));
  }

  Matrix second_ = {6, 4, {}};  // of the second expert
};

TEST_F(PlainRows, AllOfThem) {
  expect({.first = 6, .rows = 6, .cols = 4}, second_);
}

TEST_F(PlainRows, Halves) {
  expect({.first = 6, .rows = 6, .cols = 4, .group = 6, .from = 0, .count = 3}, second_);
  expect({.first = 6, .rows = 6, .cols = 4, .group = 6, .from = 3, .count = 3}, second_);
}

TEST_F(PlainRows, EveryOther) {
  expect({.first = 6, .rows = 6, .cols = 4, .group = 2, .from = 0, .count = 1}, second_);
  expect({.first = 6, .rows = 6, .cols = 4, .group = 2, .from = 1, .count = 1}, second_);
}

TEST_F(PlainRows, PartsOfGroups) {
  expect({.first = 6, .rows = 6, .cols = 4, .group = 3, .from = 1, .count = 2}, second_);
}

TEST_F(PlainRows, OneOfMany) {
  format_.tensors.clear();
  format_.add("w", {20, 4}, COLIBRI_CODEC_U8);
  format_.tensors[0].codec = COLIBRI_CODEC_F32;
  format_.tensors[0].shape = {20, 1};
  open([](uint64_t i) { return static_cast<char>(i % 4 == 3 ? 0x3f : i); });
  Matrix stored = {20, 1, std::vector<float>(20)};
  std::memcpy(stored.values.data(), bytes_.data(), bytes_.size());
  expect({.rows = 20, .cols = 1, .group = 10, .from = 7, .count = 1}, stored);
}

TEST_F(PlainRows, Transposed) {
  expect({.first = 6, .rows = 6, .cols = 4, .transpose = true}, second_);
  expect({.first = 6, .rows = 6, .cols = 4, .transpose = true, .group = 2, .from = 1}, second_);
  expect({.first = 6, .rows = 6, .cols = 4, .transpose = true, .group = 4, .from = 1, .count = 3},
         second_);
}

TEST_F(PlainRows, TransposedGroups) {
  expect({.first = 6,
          .rows = 6,
          .cols = 4,
          .group = 3,
          .from = 0,
          .count = 2,
          .transpose_groups = true},
         second_);
  expect({.first = 6,
          .rows = 6,
          .cols = 4,
          .group = 3,
          .from = 2,
          .count = 1,
          .transpose_groups = true},
         second_);
}

TEST_F(PlainRows, KeepTheirCodec) {
  EXPECT_EQ(weight({.rows = 6, .cols = 4, .transpose = true}, 4, 6).codec(),
            static_cast<uint32_t>(COLIBRI_CODEC_BF16));
}

// The elements of a vector are the rows of a matrix with one column.
TEST_F(PlainRows, VectorsWholeAndInPart) {
  const Weight whole = weight({.first = 24, .rows = 24, .cols = 1}, 1, 24);
  EXPECT_EQ(read(whole, 0, 1), second_.values);
  const Weight odd = weight({.first = 24, .rows = 24, .cols = 1, .group = 2, .from = 1}, 1, 12);
  const std::vector<float> numbers = read(odd, 0, 1);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(numbers[i], second_.values[2 * i + 1]);
}

TEST_F(PlainRows, AFailedReadNamesTheTensor) {
  fs::resize_file(folder_ / "w", 100);
  const Weight cut = weight({.first = 12, .rows = 6, .cols = 4}, 6, 4);
  std::vector<std::byte> to(cut.bytes());
  const Status status = read_rows(*source_, cut, 0, 6, to.data(), nullptr);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.text().find("tensor 'w'"), std::string::npos) << status.text();
}

// q8_0 cannot be transposed as it is: f32 comes out.
TEST_F(RowsTest, TransposedBlocksBecomeNumbers) {
  format_.add("w", {4, 64}, COLIBRI_CODEC_Q8_0);
  open([](uint64_t i) { return static_cast<char>(i % 34 == 1 ? 0x3c : i % 34 == 0 ? 0 : i * 7); });
  Matrix stored = {4, 64, std::vector<float>(4 * 64)};
  ASSERT_TRUE(decode_row(COLIBRI_CODEC_Q8_0, reinterpret_cast<const uint8_t*>(bytes_.data()), 256,
                         stored.values.data()));
  const RowMap map = {
      .rows = 4, .cols = 64, .group = 2, .from = 0, .count = 1, .transpose_groups = true};
  EXPECT_EQ(weight(map, 128, 1).codec(), static_cast<uint32_t>(COLIBRI_CODEC_F32));
  expect(map, stored);
  expect({.rows = 4, .cols = 64, .transpose = true}, stored);
  // Rows that stay rows stay blocks.
  EXPECT_EQ(weight({.rows = 4, .cols = 64, .group = 2}, 2, 64).codec(),
            static_cast<uint32_t>(COLIBRI_CODEC_Q8_0));
  expect({.rows = 4, .cols = 64, .group = 2, .from = 1}, stored);
}

// mxfp4 whose numbers and scales are two tensors: values as transformers'
// convert_moe_packed_tensors makes them.
TEST_F(RowsTest, Fp4WithScalesApart) {
  constexpr float kValues[16] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0.f, -.5, -1, -1.5, -2, -3, -4, -6};
  format_.add("w", {6, 2, 16}, COLIBRI_CODEC_U8);
  format_.add("scales", {6, 2}, COLIBRI_CODEC_U8);
  open([](uint64_t i) { return static_cast<char>(i < 192 ? i * 11 + 3 : 120 + i % 9); });
  Matrix stored = {6, 64, {}};
  for (size_t i = 0; i < 6 * 64; ++i) {
    const auto byte = static_cast<uint8_t>(bytes_[i / 2]);
    const auto scale = static_cast<uint8_t>(bytes_[192 + i / 32]);
    const float value = kValues[i % 2 == 0 ? byte & 15 : byte >> 4];
    stored.values.push_back(value * std::ldexp(1.0f, scale - 127));
  }
  EXPECT_EQ(weight({.rows = 6, .cols = 64}, 6, 64).codec(),
            static_cast<uint32_t>(COLIBRI_CODEC_MXFP4));
  expect({.rows = 6, .cols = 64}, stored);
  expect({.rows = 6, .cols = 64, .group = 2, .from = 1}, stored);
  expect({.rows = 6, .cols = 64, .transpose = true, .group = 2}, stored);
}

// fp8 with one scale for 128 by 128 elements, the last rows fewer.
class Fp8Rows : public RowsTest {
 protected:
  void open_fp8(int64_t cols) {
    const int64_t across = (cols + 127) / 128;
    cols_ = cols;
    format_.add("w", {200, cols}, COLIBRI_CODEC_F8_E4M3);
    format_.add("scales", {2, across}, COLIBRI_CODEC_F32);
    const float scales[4] = {0.5f, 2, 0.25f, 3};
    const auto elements = static_cast<uint64_t>(200 * cols);
    open([&](uint64_t i) {
      // Exponents below that of NaN.
      if (i < elements) return static_cast<char>(i * 13 % 0x70 + (i % 2 == 0 ? 0x80 : 0));
      return reinterpret_cast<const char*>(scales)[i - elements];
    });
    stored_ = {200, cols, {}};
    for (int64_t r = 0; r < 200; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        const auto byte = static_cast<uint8_t>(bytes_[static_cast<size_t>(r * cols + c)]);
        stored_.values.push_back(scales[r / 128 * across + c / 128] * f32_from_f8_e4m3(byte));
      }
    }
  }

  void expect_in(const RowMap& map) const {
    const Matrix wanted = meant(map, stored_);
    const Weight whole = weight(map, wanted.rows, wanted.cols);
    for (const int64_t step : {7, 129, 200}) {
      std::vector<float> all;
      for (int64_t begin = 0; begin < wanted.rows; begin += step) {
        const auto piece = read(whole, begin, std::min(begin + step, wanted.rows));
        all.insert(all.end(), piece.begin(), piece.end());
      }
      EXPECT_EQ(all, wanted.values) << "in pieces of " << step;
    }
  }

  void expect_every_way() const {
    expect_in({.rows = 200, .cols = cols_});
    expect_in({.rows = 200, .cols = cols_, .group = 40, .from = 30, .count = 10});
    expect_in({.rows = 200, .cols = cols_, .transpose = true});
    expect_in({.rows = 200, .cols = cols_, .group = 40, .count = 30, .transpose_groups = true});
  }

  int64_t cols_ = 0;
  Matrix stored_;
};

TEST_F(Fp8Rows, OfWholeBlocks) {
  open_fp8(256);
  EXPECT_EQ(weight({.rows = 200, .cols = 256}, 200, 256).codec(),
            static_cast<uint32_t>(COLIBRI_CODEC_F8_E4M3_128));
  expect_every_way();
}

TEST_F(Fp8Rows, OfOtherWidthsBecomeNumbers) {
  open_fp8(150);
  EXPECT_EQ(weight({.rows = 200, .cols = 150}, 200, 150).codec(),
            static_cast<uint32_t>(COLIBRI_CODEC_F32));
  expect_every_way();
}

}  // namespace
}  // namespace colibri::model
