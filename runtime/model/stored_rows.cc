// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/stored_rows.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/decode_blocks.h"
#include "runtime/model/codecs.h"

namespace colibri::model {
namespace {

// mxfp4: 32 elements are 16 bytes of the tensor, element 2i in the low half of byte i, and one
// byte of its scales. A block of the codec begins with the scale and has element i in the low half
// of byte i, element i + 16 in the high one.
constexpr int64_t kFp4Block = 32;
constexpr uint64_t kFp4Bytes = 16;

void assemble_fp4(const std::byte* pairs, const std::byte* scales, int64_t blocks, std::byte* to) {
  for (int64_t b = 0; b < blocks; ++b, pairs += kFp4Bytes, to += kFp4Bytes + 1) {
    const auto element = [&](uint64_t i) {
      return (pairs[i / 2] >> (i % 2 * 4)) & std::byte{0x0f};
    };
    to[0] = scales[b];
    for (uint64_t i = 0; i < kFp4Bytes; ++i) {
      to[1 + i] = element(i) | (element(i + kFp4Bytes) << 4);
    }
  }
}

Status read_fp4(const ModelSource& source, const Weight& weight, int64_t row, int64_t n,
                std::byte* to, std::byte* scratch) {
  const auto first = static_cast<uint64_t>((weight.map.first + row) * weight.map.cols / kFp4Block);
  const int64_t blocks = n * weight.map.cols / kFp4Block;
  const uint64_t bytes = static_cast<uint64_t>(blocks) * kFp4Bytes;
  std::byte* scales = scratch + bytes;
  COLIBRI_TRY(source.read(*weight.tensor, first * kFp4Bytes, scratch, bytes));
  COLIBRI_TRY(source.read(*weight.scales, first, scales, static_cast<uint64_t>(blocks)));
  assemble_fp4(scratch, scales, blocks, to);
  return {};
}

// f8: one f32 scale for every square of 128 by 128 elements, those at the edges smaller. A block of
// the codec is a scale and 128 elements of a row; rows that are no whole blocks become numbers.
constexpr int64_t kFp8Block = 128;

int64_t squares_across(const Weight& weight) {
  return (weight.map.cols + kFp8Block - 1) / kFp8Block;
}

// One row of elements and the scales of its squares, as blocks or as numbers.
void assemble_fp8(const Weight& weight, const std::byte* elements, const std::byte* scales,
                  std::byte* to) {
  const bool blocks = stored_codec(weight) == COLIBRI_CODEC_F8_E4M3_128;
  for (int64_t col = 0; col < weight.map.cols; col += kFp8Block) {
    const std::byte* scale = scales + col / kFp8Block * 4;
    if (blocks) {
      std::memcpy(to, scale, sizeof(float));
      std::memcpy(to + sizeof(float), elements + col, kFp8Block);
      to += sizeof(float) + kFp8Block;
      continue;
    }
    float factor;
    std::memcpy(&factor, scale, sizeof(factor));
    for (int64_t c = col; c < std::min(col + kFp8Block, weight.map.cols); ++c) {
      const float number = factor * f32_from_f8_e4m3(static_cast<uint8_t>(elements[c]));
      std::memcpy(to, &number, sizeof(number));
      to += sizeof(number);
    }
  }
}

Status read_fp8(const ModelSource& source, const Weight& weight, int64_t row, int64_t n,
                std::byte* to, std::byte* scratch) {
  const int64_t cols = weight.map.cols;
  const int64_t first = row / kFp8Block, last = (row + n - 1) / kFp8Block;
  const uint64_t scale_row = static_cast<uint64_t>(squares_across(weight)) * sizeof(float);
  std::byte* scales = scratch + n * cols;
  COLIBRI_TRY(source.read(*weight.tensor, static_cast<uint64_t>(row * cols), scratch,
                          static_cast<uint64_t>(n * cols)));
  COLIBRI_TRY(source.read(*weight.scales, static_cast<uint64_t>(first) * scale_row, scales,
                          static_cast<uint64_t>(last - first + 1) * scale_row));
  for (int64_t r = 0; r < n; ++r) {
    const auto square = static_cast<uint64_t>((row + r) / kFp8Block - first);
    assemble_fp8(weight, scratch + r * cols, scales + square * scale_row,
                 to + static_cast<uint64_t>(r) * stored_row_bytes(weight));
  }
  return {};
}

}  // namespace

uint32_t stored_codec(const Weight& weight) {
  if (weight.scales == nullptr) return weight.tensor->codec;
  if (weight.tensor->codec == COLIBRI_CODEC_U8) return COLIBRI_CODEC_MXFP4;
  return weight.map.cols % kFp8Block == 0 ? COLIBRI_CODEC_F8_E4M3_128 : COLIBRI_CODEC_F32;
}

uint64_t stored_row_bytes(const Weight& weight) {
  const CodecBlock block = *codec_block(stored_codec(weight));
  return static_cast<uint64_t>(weight.map.cols / block.elements) * block.bytes;
}

uint64_t stored_scratch_bytes(const Weight& weight, int64_t n) {
  if (weight.scales == nullptr) return 0;
  if (stored_codec(weight) == COLIBRI_CODEC_MXFP4) {
    return static_cast<uint64_t>(n * weight.map.cols / kFp4Block) * (kFp4Bytes + 1);
  }
  const int64_t scale_rows = (n + kFp8Block - 2) / kFp8Block + 1;
  return static_cast<uint64_t>(n * weight.map.cols) +
         static_cast<uint64_t>(scale_rows * squares_across(weight)) * sizeof(float);
}

Status read_stored_rows(const ModelSource& source, const Weight& weight, int64_t row, int64_t n,
                        std::byte* to, std::byte* scratch) {
  if (weight.scales == nullptr) {
    const uint64_t bytes = stored_row_bytes(weight);
    return source.read(*weight.tensor, static_cast<uint64_t>(weight.map.first + row) * bytes, to,
                       static_cast<uint64_t>(n) * bytes);
  }
  return stored_codec(weight) == COLIBRI_CODEC_MXFP4
             ? read_fp4(source, weight, row, n, to, scratch)
             : read_fp8(source, weight, row, n, to, scratch);
}

}  // namespace colibri::model
