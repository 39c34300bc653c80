// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_generic/packed_matrix.h"

#include <cstring>

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/decode_row.h"
#include "runtime/base/small_floats.h"

namespace colibri::cpu_generic {
namespace {

uint16_t load_u16(const uint8_t* p) {
  uint16_t x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}

}  // namespace

float PackedMatrix::decoded_number(int64_t row, int64_t column) const {
  const CodecFacts& facts = *codec_facts(codec);
  const uint8_t* block =
      bytes + row * cpu::file_row_bytes(codec, cols) + column / facts.elements * facts.bytes;
  if (block != decoded_from) decode_row(codec, block, facts.elements, decoded);
  decoded_from = block;
  return decoded[column % facts.elements];
}

float PackedMatrix::number(int64_t row, int64_t column) const {
  if (cpu::is_decoded_codec(codec)) return decoded_number(row, column);
  const uint8_t* panel = bytes + row / 8 * cpu::panel_bytes(codec, cols);
  const int64_t index = column * 8 + row % 8;
  switch (codec) {
    case COLIBRI_CODEC_F16:
      return f32_from_f16(load_u16(panel + index * 2));
    case COLIBRI_CODEC_BF16:
      return f32_from_bf16(load_u16(panel + index * 2));
    case COLIBRI_CODEC_F32: {
      float x;
      std::memcpy(&x, panel + index * 4, sizeof(x));
      return x;
    }
    default:
      return scale(row, column / 32) * static_cast<float>(quant(row, column));
  }
}

const uint8_t* PackedMatrix::block_at(int64_t row, int64_t block) const {
  const int64_t block_bytes = codec == COLIBRI_CODEC_Q8_0 ? 272 : 144;
  return bytes + row / 8 * cpu::panel_bytes(codec, cols) + block * block_bytes;
}

float PackedMatrix::scale(int64_t row, int64_t block) const {
  return f32_from_f16(load_u16(block_at(row, block) + 2 * (row % 8)));
}

int PackedMatrix::quant(int64_t row, int64_t column) const {
  const uint8_t* vectors = block_at(row, column / 32) + 16;
  const int64_t i = column % 32;
  const int64_t r = row % 8;
  if (codec == COLIBRI_CODEC_Q8_0) return static_cast<int8_t>(vectors[i / 4 * 32 + 4 * r + i % 4]);
  const int both = vectors[i % 16 / 4 * 32 + 4 * r + i % 4];
  return (i < 16 ? both & 15 : both >> 4) - 8;
}

}  // namespace colibri::cpu_generic
