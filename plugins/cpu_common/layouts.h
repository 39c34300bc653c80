// SPDX-License-Identifier: Apache-2.0
// Where the bytes are: codecs, the R8 layout and prepared rows. kernels.h and codec.h say it in
// words; these are the sizes. The key and value cache: kv_layout.h.
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

}  // namespace colibri::cpu
