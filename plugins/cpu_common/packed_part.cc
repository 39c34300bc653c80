// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/packed_part.h"

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/decode_blocks.h"

namespace colibri::cpu {
namespace {

// The number that a byte from 0 to 255 is in two's complement.
int signed_byte(int byte) {
  return byte < 128 ? byte : byte - 256;
}

// One row of fields that stand one after another, each with the same field of the other rows
// (kernels.h).
class RowReader {
 public:
  RowReader(const uint8_t* at, int64_t row) : at_(at), row_(row) {}

  const uint8_t* bytes(int64_t size) {  // the next field, of this many bytes a row
    const uint8_t* field = at_ + size * row_;
    at_ += kPanelRows * size;
    return field;
  }
  float f16() { return load_f16(bytes(2)); }
  int i8() { return signed_byte(*bytes(1)); }
  // Two bytes: of the first and of the second 16 columns.
  void two_i8(int both[2]) {
    const uint8_t* two = bytes(2);
    both[0] = signed_byte(two[0]);
    both[1] = signed_byte(two[1]);
  }
  // Sets `bits` bits of each q, from bit `to` on.
  void columns(int bits, int to, int q[32]) {
    const int vectors = bits;  // of 4 bytes a row
    for (int v = 0; v < vectors; ++v) {
      const uint8_t* four = bytes(4);
      for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 8 / bits; ++k) {
          const int column = column_of(bits, v, k) + i;
          q[column] |= (four[i] >> k * bits & ((1 << bits) - 1)) << to;
        }
      }
    }
  }

 private:
  // Nibbles: 16 columns apart. Fewer bits: neighbours.
  static int column_of(int bits, int v, int k) {
    return bits == 4 ? 4 * v + 16 * k : 4 * (v * (8 / bits) + k);
  }

  const uint8_t* at_;
  int64_t row_;
};

constexpr int kLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                             1,    13,   25,  38,  53,  69,  89,  113};
constexpr int kTwiceFp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace

void PackedPart::numbers(float w[32]) const {
  for (int i = 0; i < 32; ++i) {
    const int half = i / 16;
    w[i] = scale * static_cast<float>(factor[half]) * static_cast<float>(q[i]);
    if (has_offset) w[i] = w[i] + offset * static_cast<float>(least[half]);
  }
}

PackedPart packed_part(uint32_t codec, const uint8_t* weight, int64_t cols, int64_t row,
                       int64_t part) {
  const PanelBlock block = panel_block(codec);
  const uint8_t* head_bytes =
      weight + row / kPanelRows * panel_bytes(codec, cols) + part / block.parts() * block.bytes();
  RowReader head(head_bytes, row % kPanelRows);
  RowReader read(head_bytes + block.head + part % block.parts() * block.part, row % kPanelRows);
  PackedPart out = {};
  out.factor[0] = out.factor[1] = 1;
  out.least[0] = out.least[1] = 1;
  const auto subtract = [&](int less) {
    for (int& q : out.q) q -= less;
  };
  const auto look_up = [&](const int(&table)[16]) {
    for (int& q : out.q) q = table[q];
  };
  switch (codec) {
    case COLIBRI_CODEC_Q8_0:
      out.scale = head.f16();
      read.columns(8, 0, out.q);
      for (int& q : out.q) q = signed_byte(q);
      break;
    case COLIBRI_CODEC_Q4_0:
      out.scale = head.f16();
      read.columns(4, 0, out.q);
      subtract(8);
      break;
    case COLIBRI_CODEC_Q4_1:
      out.scale = head.f16();
      out.offset = head.f16();
      out.has_offset = true;
      read.columns(4, 0, out.q);
      break;
    case COLIBRI_CODEC_Q5_0:
      out.scale = head.f16();
      read.columns(1, 4, out.q);
      read.columns(4, 0, out.q);
      subtract(16);
      break;
    case COLIBRI_CODEC_Q5_1:
      out.scale = head.f16();
      out.offset = head.f16();
      out.has_offset = true;
      read.columns(1, 4, out.q);
      read.columns(4, 0, out.q);
      break;
    case COLIBRI_CODEC_IQ4_NL:
      out.scale = head.f16();
      read.columns(4, 0, out.q);
      look_up(kLevels);
      break;
    case COLIBRI_CODEC_MXFP4:
      out.scale = half_of_e8m0(*head.bytes(1));
      read.columns(4, 0, out.q);
      look_up(kTwiceFp4);
      break;
    case COLIBRI_CODEC_Q2_K: {
      out.scale = head.f16();
      out.offset = -head.f16();
      out.has_offset = true;
      const uint8_t* both = read.bytes(2);
      for (int half = 0; half < 2; ++half) {
        out.factor[half] = both[half] & 15;
        out.least[half] = both[half] >> 4;
      }
      read.columns(2, 0, out.q);
      break;
    }
    case COLIBRI_CODEC_Q3_K:
      out.scale = head.f16();
      read.two_i8(out.factor);
      read.columns(1, 2, out.q);
      read.columns(2, 0, out.q);
      subtract(4);
      break;
    case COLIBRI_CODEC_Q4_K:
    case COLIBRI_CODEC_Q5_K:
      out.scale = head.f16();
      out.offset = -head.f16();
      out.has_offset = true;
      out.scale = out.scale * static_cast<float>(read.i8());
      out.offset = out.offset * static_cast<float>(read.i8());
      if (codec == COLIBRI_CODEC_Q5_K) read.columns(1, 4, out.q);
      read.columns(4, 0, out.q);
      break;
    case COLIBRI_CODEC_Q6_K:
      out.scale = head.f16();
      read.two_i8(out.factor);
      read.columns(2, 4, out.q);
      read.columns(4, 0, out.q);
      subtract(32);
      break;
    case COLIBRI_CODEC_IQ4_XS:
      out.scale = head.f16() * static_cast<float>(read.i8());
      read.columns(4, 0, out.q);
      look_up(kLevels);
      break;
    default:
      break;
  }
  return out;
}

}  // namespace colibri::cpu
