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
    default: {
      float numbers[32];
      part(row, column / 32).numbers(numbers);
      return numbers[column % 32];
    }
  }
}

}  // namespace colibri::cpu_generic
