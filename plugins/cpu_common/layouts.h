// SPDX-License-Identifier: Apache-2.0
// Where the bytes are: codecs, the R8 layout, prepared rows, and the key and value cache. kernels.h
// and codec.h say it in words; these are the sizes.
#pragma once

#include <cstdint>

#include "colibri/kernels.h"
#include "runtime/base/codec_facts.h"
#include "runtime/base/panel_layout.h"

namespace colibri::cpu {

constexpr int64_t kPanelRows = 8;  // rows of a panel of the R8 layout
constexpr int64_t kBlockCols =
    32;  // columns of a block of q8_32, and of a part of a weight's block

static inline bool is_float_codec(uint32_t codec) {
  return codec == COLIBRI_CODEC_F32 || codec == COLIBRI_CODEC_F16 || codec == COLIBRI_CODEC_BF16;
}
static inline bool is_quantised_codec(uint32_t codec) {
  return has_integer_product(codec);
}
// Codecs without a product of their own: they stay row by row as in the file, and are decoded to f32
// wherever they are used.
static inline bool is_decoded_codec(uint32_t codec) {
  const CodecFacts* facts = codec_facts(codec);
  return facts != nullptr && facts->weights && !is_float_codec(codec) && !is_quantised_codec(codec);
}

// Bytes of one row of `cols` elements as it stands in a file; 0 for a codec that is not known.
static inline int64_t file_row_bytes(uint32_t codec, int64_t cols) {
  const CodecFacts* facts = codec_facts(codec);
  return facts == nullptr ? 0 : cols / facts->elements * facts->bytes;
}

// Bytes of one panel of 8 rows.
static inline int64_t panel_bytes(uint32_t codec, int64_t cols) {
  return r8_panel_bytes(*codec_facts(codec), cols);
}
static inline int64_t panels_of(int64_t rows) {
  return (rows + kPanelRows - 1) / kPanelRows;
}

// A q8_32 row of `cols` activations.
struct PreparedRow {
  int8_t* q;     // [cols]
  float* scale;  // [cols / 32]
  int16_t* sum;  // [cols / 16], each of 16 q
};
static inline PreparedRow prepared_row(uint8_t* row, int64_t cols) {
  return {reinterpret_cast<int8_t*>(row), reinterpret_cast<float*>(row + cols),
          reinterpret_cast<int16_t*>(row + cols + cols / kBlockCols * 4)};
}

// Elements from one block of 16 keys to the next in the key and in the value cache of one head.
static inline int64_t key_block_size(int64_t head_dim) {
  return head_dim * COLIBRI_KV_BLOCK;
}
static inline int64_t value_tiles(int64_t head_dim) {
  return (head_dim + 15) / 16;
}
static inline int64_t value_block_size(int64_t head_dim) {
  return value_tiles(head_dim) * 16 * COLIBRI_KV_BLOCK;
}

}  // namespace colibri::cpu
