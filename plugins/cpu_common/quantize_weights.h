// SPDX-License-Identifier: Apache-2.0
// Quantising weights at load, as GGUF's reference does (docs/numerics.md, "Quantising weights").
#pragma once

#include <cstdint>

namespace colibri::cpu {

// Whether weights of this codec can be made out of floats: q8_0, q4_0, q4_1, q5_0, q5_1. [any]
bool can_quantize_to(uint32_t codec);

// 32 numbers to a block of such a codec, as files hold it. A number that is not finite makes all
// numbers of the block NaN. [any]
void quantize_weights(uint32_t codec, const float weights[32], uint8_t* block);

}  // namespace colibri::cpu
