// SPDX-License-Identifier: Apache-2.0
// Reading one row of 32 columns out of a quantised weight in layout R8, whatever its codec: the
// readable form of docs/numerics.md, section 3.
#pragma once

#include <cstdint>

namespace colibri::cpu {

// Weight i of a part is scale * factor[i / 16] * q[i] + offset * least[i / 16], each product and sum
// rounded, in that order; a codec without an offset leaves the sum out.
struct PackedPart {
  int q[32];
  float scale;
  int factor[2];
  bool has_offset;
  float offset;
  int least[2];

  void numbers(float w[32]) const;
};

// Part `part` of row `row` of a packed quantised weight. Thread-safe.
PackedPart packed_part(uint32_t codec, const uint8_t* weight, int64_t cols, int64_t row,
                       int64_t part);

}  // namespace colibri::cpu
