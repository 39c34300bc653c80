// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/cpu_common/layouts.h"

namespace colibri::cpu_generic {

// Block `block` of a prepared row (q8_32) from its 32 numbers.
void prepare_block(const float x[32], const cpu::PreparedRow& row, int64_t block);

}  // namespace colibri::cpu_generic
