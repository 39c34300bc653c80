// SPDX-License-Identifier: Apache-2.0
// Sizes of the R8 layout (kernels.h).
#pragma once

#include <cstdint>

#include "colibri/codec.h"
#include "runtime/base/codec_facts.h"

namespace colibri {

constexpr int64_t kR8Rows = 8;     // of a panel
constexpr int64_t kPartCols = 32;  // columns of a part of a quantised block

// A quantised block of 8 rows in the R8 layout (kernels.h): a head, then its parts of 32 columns.
struct PanelBlock {
  int64_t cols;  // 32 or 256
  int64_t head;  // bytes
  int64_t part;  // bytes

  constexpr int64_t parts() const { return cols / kPartCols; }
  constexpr int64_t bytes() const { return head + parts() * part; }
};
// static: every plugin keeps what its compiler made of it
static constexpr PanelBlock panel_block(uint32_t codec) {
  switch (codec) {
    case COLIBRI_CODEC_Q8_0:
      return {32, 16, 256};
    case COLIBRI_CODEC_Q4_0:
    case COLIBRI_CODEC_IQ4_NL:
      return {32, 16, 128};
    case COLIBRI_CODEC_Q4_1:
      return {32, 32, 128};
    case COLIBRI_CODEC_Q5_0:
      return {32, 16, 160};
    case COLIBRI_CODEC_Q5_1:
      return {32, 32, 160};
    case COLIBRI_CODEC_MXFP4:
      return {32, 8, 128};
    case COLIBRI_CODEC_Q2_K:
      return {256, 32, 80};
    case COLIBRI_CODEC_Q3_K:
      return {256, 16, 112};
    case COLIBRI_CODEC_Q4_K:
      return {256, 32, 144};
    case COLIBRI_CODEC_Q5_K:
      return {256, 32, 176};
    case COLIBRI_CODEC_Q6_K:
      return {256, 16, 208};
    case COLIBRI_CODEC_IQ4_XS:
      return {256, 16, 136};
    default:
      return {};
  }
}

// Bytes of one panel; cols is a multiple of the codec's block.
static inline int64_t r8_panel_bytes(const CodecFacts& codec, int64_t cols) {
  if (!codec.integer) return kR8Rows * (cols / codec.elements) * codec.bytes;
  const PanelBlock block = panel_block(codec.id);
  return cols / block.cols * block.bytes();
}

// Bytes of a matrix.
static inline uint64_t r8_bytes(const CodecFacts& codec, int64_t rows, int64_t cols) {
  return static_cast<uint64_t>((rows + kR8Rows - 1) / kR8Rows * r8_panel_bytes(codec, cols));
}

}  // namespace colibri
