// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/interleave.h"

#include <cstring>

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/decode_blocks.h"

namespace colibri::cpu {
namespace {

// Writes the fields of one row, each beside the same field of the other rows.
class RowWriter {
 public:
  RowWriter(uint8_t* to, int64_t row) : to_(to), row_(row) {}

  template <int64_t size>
  void put(const uint8_t* field) {
    std::memcpy(to_ + size * row_, field, size);
    to_ += kPanelRows * size;
  }
  void put_i8(int number) {
    to_[row_] = static_cast<uint8_t>(number);
    to_ += kPanelRows;
  }
  void put_u32(uint32_t number) {
    std::memcpy(to_ + 4 * row_, &number, 4);
    to_ += kPanelRows * 4;
  }
  void put_vectors(const uint8_t* bytes, int count) {
    for (int v = 0; v < count; ++v) put<4>(bytes + 4 * v);
  }

 private:
  uint8_t* to_;
  int64_t row_;
};

// The following take 32 bytes, one a column, of which `bits` from `shift` on belong to the part.

void put_nibbles(RowWriter& to, const uint8_t* q, int shift) {
  for (int v = 0; v < 4; ++v) {
    const uint32_t low = load_from<uint32_t>(q + 4 * v) >> shift & 0x0F0F0F0Fu;
    const uint32_t high = load_from<uint32_t>(q + 16 + 4 * v) >> shift & 0x0F0F0F0Fu;
    to.put_u32(low | high << 4);
  }
}

void put_two_bits(RowWriter& to, const uint8_t* q, int shift) {
  for (int v = 0; v < 2; ++v) {
    uint32_t four = 0;
    for (int k = 0; k < 4; ++k)
      four |= (load_from<uint32_t>(q + 16 * v + 4 * k) >> shift & 0x03030303u) << 2 * k;
    to.put_u32(four);
  }
}

void put_bits(RowWriter& to, const uint8_t* q, int shift) {
  uint32_t four = 0;
  for (int k = 0; k < 8; ++k) four |= (load_from<uint32_t>(q + 4 * k) >> shift & 0x01010101u) << k;
  to.put_u32(four);
}

// The same of 32 bits that stand one after another.
void put_dense_bits(RowWriter& to, uint32_t bits) {
  uint32_t four = 0;
  for (int k = 0; k < 8; ++k)  // the product has bit i of its factor in byte i
    four |= ((bits >> 4 * k & 15) * 0x00204081u & 0x01010101u) << k;
  to.put_u32(four);
}

void put_q8_0(const uint8_t* block, RowWriter to) {
  to.put<2>(block);
  to.put_vectors(block + 2, 8);
}
void put_q4_0(const uint8_t* block, RowWriter to) {  // and iq4_nl
  to.put<2>(block);
  to.put_vectors(block + 2, 4);
}
void put_q4_1(const uint8_t* block, RowWriter to) {
  to.put<2>(block);
  to.put<2>(block + 2);
  to.put_vectors(block + 4, 4);
}
void put_q5_0(const uint8_t* block, RowWriter to) {
  to.put<2>(block);
  put_dense_bits(to, load_from<uint32_t>(block + 2));
  to.put_vectors(block + 6, 4);
}
void put_q5_1(const uint8_t* block, RowWriter to) {
  to.put<2>(block);
  to.put<2>(block + 2);
  put_dense_bits(to, load_from<uint32_t>(block + 4));
  to.put_vectors(block + 8, 4);
}
void put_mxfp4(const uint8_t* block, RowWriter to) {
  to.put<1>(block);
  to.put_vectors(block + 1, 4);
}

void put_q2_k(const uint8_t* block, RowWriter to) {
  to.put<2>(block + 80);
  to.put<2>(block + 82);
  for (int j = 0; j < 8; ++j) {
    to.put<2>(block + 2 * j);
    put_two_bits(to, block + 16 + j / 4 * 32, j % 4 * 2);
  }
}

int q3_k_scale(const uint8_t* s, int j) {
  const int low = j < 8 ? s[j] & 15 : s[j - 8] >> 4;
  return (low | (s[8 + j % 4] >> j / 4 * 2 & 3) << 4) - 32;
}
void put_q3_k(const uint8_t* block, RowWriter to) {
  to.put<2>(block + 108);
  for (int j = 0; j < 8; ++j) {
    const uint8_t both[2] = {static_cast<uint8_t>(q3_k_scale(block + 96, 2 * j)),
                             static_cast<uint8_t>(q3_k_scale(block + 96, 2 * j + 1))};
    to.put<2>(both);
    put_bits(to, block, j);
    put_two_bits(to, block + 32 + j / 4 * 32, j % 4 * 2);
  }
}

void put_q4_k(const uint8_t* block, RowWriter to) {
  to.put<2>(block);
  to.put<2>(block + 2);
  for (int j = 0; j < 8; ++j) {
    to.put_i8(k_scale(block + 4, j));
    to.put_i8(k_least(block + 4, j));
    put_nibbles(to, block + 16 + j / 2 * 32, j % 2 * 4);
  }
}
void put_q5_k(const uint8_t* block, RowWriter to) {
  to.put<2>(block);
  to.put<2>(block + 2);
  for (int j = 0; j < 8; ++j) {
    to.put_i8(k_scale(block + 4, j));
    to.put_i8(k_least(block + 4, j));
    put_bits(to, block + 16, j);
    put_nibbles(to, block + 48 + j / 2 * 32, j % 2 * 4);
  }
}
void put_q6_k(const uint8_t* block, RowWriter to) {
  to.put<2>(block + 208);
  for (int j = 0; j < 8; ++j) {
    to.put<2>(block + 192 + 2 * j);
    put_two_bits(to, block + 128 + j / 4 * 32, j % 4 * 2);
    put_nibbles(to, block + j / 4 * 64 + j % 2 * 32, j % 4 / 2 * 4);
  }
}
void put_iq4_xs(const uint8_t* block, RowWriter to) {
  to.put<2>(block);
  const auto high = load_from<uint16_t>(block + 2);
  for (int j = 0; j < 8; ++j) {
    to.put_i8(((block[4 + j / 2] >> j % 2 * 4 & 15) | (high >> 2 * j & 3) << 4) - 32);
    to.put_vectors(block + 8 + 16 * j, 4);
  }
}

template <void (*put)(const uint8_t*, RowWriter)>
void interleave(uint32_t codec, const uint8_t* rows, int64_t stride, int64_t count, int64_t cols,
                uint8_t* panel) {
  const CodecFacts& facts = *codec_facts(codec);
  const int64_t panel_bytes = panel_block(codec).bytes();
  for (int64_t block = 0; block < cols / facts.elements; ++block) {
    for (int64_t r = 0; r < count; ++r)
      put(rows + r * stride + block * facts.bytes, RowWriter(panel + block * panel_bytes, r));
  }
}

}  // namespace

void interleave_rows(uint32_t codec, const uint8_t* rows, int64_t stride, int64_t count,
                     int64_t cols, uint8_t* panel) {
  switch (codec) {
    case COLIBRI_CODEC_Q8_0:
      return interleave<put_q8_0>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q4_0:
    case COLIBRI_CODEC_IQ4_NL:
      return interleave<put_q4_0>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q4_1:
      return interleave<put_q4_1>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q5_0:
      return interleave<put_q5_0>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q5_1:
      return interleave<put_q5_1>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_MXFP4:
      return interleave<put_mxfp4>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q2_K:
      return interleave<put_q2_k>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q3_K:
      return interleave<put_q3_k>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q4_K:
      return interleave<put_q4_k>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q5_K:
      return interleave<put_q5_k>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_Q6_K:
      return interleave<put_q6_k>(codec, rows, stride, count, cols, panel);
    case COLIBRI_CODEC_IQ4_XS:
      return interleave<put_iq4_xs>(codec, rows, stride, count, cols, panel);
    default:
      return;
  }
}

}  // namespace colibri::cpu
