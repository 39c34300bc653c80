// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/interleave.h"

#include <array>
#include <cstring>

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/decode_blocks.h"

namespace colibri::cpu {
namespace {

// The same block of up to 8 rows.
struct Blocks {
  const uint8_t* first;
  int64_t stride, count;

  const uint8_t* operator[](int64_t row) const { return first + row * stride; }
};

// Four words of a row, which become one word of each of four vectors.
using Words = uint32_t __attribute__((vector_size(16)));

Words words_at(const uint8_t* bytes) {
  return load_from<Words>(bytes);
}

// Writes a block's fields one after another, each for all rows.
class FieldWriter {
 public:
  FieldWriter(uint8_t* to, const Blocks& blocks) : to_(to), blocks_(blocks) {}

  template <int64_t size>
  void put(int64_t offset) {
    for (int64_t r = 0; r < blocks_.count; ++r)
      std::memcpy(to_ + size * r, blocks_[r] + offset, size);
    to_ += kPanelRows * size;
  }
  // number(block) of each row, of its type.
  template <class Number>
  void put_number(const Number& number) {
    using T = decltype(number(to_));
    for (int64_t r = 0; r < blocks_.count; ++r) {
      const T value = number(blocks_[r]);
      std::memcpy(to_ + static_cast<int64_t>(sizeof(T)) * r, &value, sizeof(T));
    }
    to_ += kPanelRows * static_cast<int64_t>(sizeof(T));
  }
  // words(block) of each row.
  template <class FourWords>
  void put_words(const FourWords& words) {
    if (blocks_.count == kPanelRows) {
      transpose(words, 0);
      transpose(words, 4);
    } else {
      for (int64_t r = 0; r < blocks_.count; ++r) {
        const Words row = words(blocks_[r]);
        for (int v = 0; v < 4; ++v) {
          const uint32_t word = row[v];
          std::memcpy(to_ + v * kVector + 4 * r, &word, 4);
        }
      }
    }
    to_ += 4 * kVector;
  }
  void put_vectors(int64_t offset, int count) {
    for (int v = 0; v < count; v += 4)
      put_words([=](const uint8_t* block) { return words_at(block + offset + 4 * v); });
  }

 private:
  static constexpr int64_t kVector = kPanelRows * 4;

  // The words of four rows: a line of them becomes a column.
  template <class FourWords>
  void transpose(const FourWords& words, int64_t row) {
    const Words a = words(blocks_[row]);
    const Words b = words(blocks_[row + 1]);
    const Words c = words(blocks_[row + 2]);
    const Words d = words(blocks_[row + 3]);
    const Words ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Words ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Words cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Words cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const Words columns[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                              __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                              __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                              __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
    for (int v = 0; v < 4; ++v) std::memcpy(to_ + v * kVector + 4 * row, &columns[v], 16);
  }

  uint8_t* to_;
  const Blocks& blocks_;
};

// The following take 32 bytes from `offset` on, one a column, of which `bits` from `shift` on belong
// to the part.

void put_nibbles(FieldWriter& to, int64_t offset, int shift) {
  to.put_words([=](const uint8_t* block) {
    const Words low = words_at(block + offset) >> shift & 0x0F0F0F0Fu;
    const Words high = words_at(block + offset + 16) >> shift & 0x0F0F0F0Fu;
    return low | high << 4;
  });
}

void put_two_bits(FieldWriter& to, int64_t offset, int shift) {
  for (int v = 0; v < 2; ++v) {
    to.put_number([=](const uint8_t* block) {
      uint32_t four = 0;
      for (int k = 0; k < 4; ++k)
        four |= (load_from<uint32_t>(block + offset + 16 * v + 4 * k) >> shift & 0x03030303u)
                << 2 * k;
      return four;
    });
  }
}

void put_bits(FieldWriter& to, int64_t offset, int shift) {
  to.put_number([=](const uint8_t* block) {
    uint32_t four = 0;
    for (int k = 0; k < 8; ++k)
      four |= (load_from<uint32_t>(block + offset + 4 * k) >> shift & 0x01010101u) << k;
    return four;
  });
}

// The same of 32 bits that stand one after another.
void put_dense_bits(FieldWriter& to, int64_t offset) {
  to.put_number([=](const uint8_t* block) {
    const auto bits = load_from<uint32_t>(block + offset);
    uint32_t four = 0;
    for (int k = 0; k < 8; ++k)  // the product has bit i of its factor in byte i
      four |= ((bits >> 4 * k & 15) * 0x00204081u & 0x01010101u) << k;
    return four;
  });
}

void put_q8_0(FieldWriter& to) {
  to.put<2>(0);
  to.put_vectors(2, 8);
}
void put_q4_0(FieldWriter& to) {  // and iq4_nl
  to.put<2>(0);
  to.put_vectors(2, 4);
}
void put_q4_1(FieldWriter& to) {
  to.put<2>(0);
  to.put<2>(2);
  to.put_vectors(4, 4);
}
void put_q5_0(FieldWriter& to) {
  to.put<2>(0);
  put_dense_bits(to, 2);
  to.put_vectors(6, 4);
}
void put_q5_1(FieldWriter& to) {
  to.put<2>(0);
  to.put<2>(2);
  put_dense_bits(to, 4);
  to.put_vectors(8, 4);
}
void put_mxfp4(FieldWriter& to) {
  to.put<1>(0);
  to.put_vectors(1, 4);
}

void put_q2_k(FieldWriter& to) {
  to.put<2>(80);
  to.put<2>(82);
  for (int j = 0; j < 8; ++j) {
    to.put<2>(2 * j);
    put_two_bits(to, 16 + j / 4 * 32, j % 4 * 2);
  }
}

uint8_t q3_k_scale(const uint8_t* s, int j) {
  const int low = j < 8 ? s[j] & 15 : s[j - 8] >> 4;
  return static_cast<uint8_t>((low | (s[8 + j % 4] >> j / 4 * 2 & 3) << 4) - 32);
}
void put_q3_k(FieldWriter& to) {
  to.put<2>(108);
  for (int j = 0; j < 8; ++j) {
    to.put_number([=](const uint8_t* block) {
      return std::array<uint8_t, 2>{q3_k_scale(block + 96, 2 * j),
                                    q3_k_scale(block + 96, 2 * j + 1)};
    });
    put_bits(to, 0, j);
    put_two_bits(to, 32 + j / 4 * 32, j % 4 * 2);
  }
}

void put_k_scales(FieldWriter& to, int j) {
  to.put_number([=](const uint8_t* block) { return static_cast<uint8_t>(k_scale(block + 4, j)); });
  to.put_number([=](const uint8_t* block) { return static_cast<uint8_t>(k_least(block + 4, j)); });
}
void put_q4_k(FieldWriter& to) {
  to.put<2>(0);
  to.put<2>(2);
  for (int j = 0; j < 8; ++j) {
    put_k_scales(to, j);
    put_nibbles(to, 16 + j / 2 * 32, j % 2 * 4);
  }
}
void put_q5_k(FieldWriter& to) {
  to.put<2>(0);
  to.put<2>(2);
  for (int j = 0; j < 8; ++j) {
    put_k_scales(to, j);
    put_bits(to, 16, j);
    put_nibbles(to, 48 + j / 2 * 32, j % 2 * 4);
  }
}
void put_q6_k(FieldWriter& to) {
  to.put<2>(208);
  for (int j = 0; j < 8; ++j) {
    to.put<2>(192 + 2 * j);
    put_two_bits(to, 128 + j / 4 * 32, j % 4 * 2);
    put_nibbles(to, j / 4 * 64 + j % 2 * 32, j % 4 / 2 * 4);
  }
}
void put_iq4_xs(FieldWriter& to) {
  to.put<2>(0);
  for (int j = 0; j < 8; ++j) {
    to.put_number([=](const uint8_t* block) {
      const auto high = load_from<uint16_t>(block + 2);
      return static_cast<uint8_t>(
          ((block[4 + j / 2] >> j % 2 * 4 & 15) | (high >> 2 * j & 3) << 4) - 32);
    });
    to.put_vectors(8 + 16 * j, 4);
  }
}

template <void (*put)(FieldWriter&)>
void interleave(uint32_t codec, const uint8_t* rows, int64_t stride, int64_t count, int64_t cols,
                uint8_t* panel) {
  const CodecFacts& facts = *codec_facts(codec);
  const int64_t panel_bytes = panel_block(codec).bytes();
  for (int64_t block = 0; block < cols / facts.elements; ++block) {
    const Blocks blocks = {rows + block * facts.bytes, stride, count};
    FieldWriter to(panel + block * panel_bytes, blocks);
    put(to);
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
