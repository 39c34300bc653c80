// SPDX-License-Identifier: Apache-2.0
// Reading single weights out of a packed matrix: R8, or row by row for the codecs that are decoded.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/packed_part.h"

namespace colibri::cpu_generic {

// A packed weight [rows, cols] of any codec. One thread reads it at a time.
struct PackedMatrix {
  const uint8_t* bytes = nullptr;
  uint32_t codec = 0;
  int64_t cols = 0;
  mutable const uint8_t* decoded_from = nullptr;  // the block that decoded[] holds
  mutable float decoded[128] = {};

  // The weight as a number, as codec.h defines it.
  float number(int64_t row, int64_t column) const;
  // Of a quantised codec: 32 columns of a row.
  cpu::PackedPart part(int64_t row, int64_t part) const {
    return cpu::packed_part(codec, bytes, cols, row, part);
  }

 private:
  float decoded_number(int64_t row, int64_t column) const;
};

}  // namespace colibri::cpu_generic
