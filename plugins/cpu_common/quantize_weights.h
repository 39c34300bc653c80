// SPDX-License-Identifier: Apache-2.0
// Quantising 32 weights at load, as GGUF's reference does (docs/numerics.md, "Quantising weights").
#pragma once

#include <cstdint>

namespace colibri::cpu {

struct Q8Block {
  uint16_t scale;  // f16
  int8_t q[32];
};
struct Q4Block {
  uint16_t scale;  // f16
  uint8_t q[16];   // weight i in the low nibble of q[i], i + 16 in the high one
};

// A block with a number that is not finite gets the scale NaN. Thread-safe.
void quantize_q8_0(const float weights[32], Q8Block* block);
void quantize_q4_0(const float weights[32], Q4Block* block);

}  // namespace colibri::cpu
