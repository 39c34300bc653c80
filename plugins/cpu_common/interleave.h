// SPDX-License-Identifier: Apache-2.0
// Quantised blocks of a file into the R8 layout: 8 rows at a time, field by field (kernels.h).
#pragma once

#include <cstdint>

namespace colibri::cpu {

// The first `count` rows of a panel of `cols` columns, from rows of blocks of a quantised codec that
// stand `stride` bytes apart. The other rows of the panel are left as they are. Thread-safe.
void interleave_rows(uint32_t codec, const uint8_t* rows, int64_t stride, int64_t count,
                     int64_t cols, uint8_t* panel);

}  // namespace colibri::cpu
