// SPDX-License-Identifier: Apache-2.0
// Reading single weights out of the R8 layout.
#pragma once

#include <cstdint>

namespace colibri::cpu_generic {

// A packed weight [rows, cols] of any codec.
struct PackedMatrix {
  const uint8_t* bytes;
  uint32_t codec;
  int64_t cols;

  // The weight as a number. Exact for every codec: d * q has at most 19 bits.
  float number(int64_t row, int64_t column) const;
  // Of a quantised codec: the integer of the weight, and the scale of block column / 32.
  int quant(int64_t row, int64_t column) const;
  float scale(int64_t row, int64_t block) const;

 private:
  const uint8_t* block_at(int64_t row, int64_t block) const;  // of 8 rows
};

}  // namespace colibri::cpu_generic
