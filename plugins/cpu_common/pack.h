// SPDX-License-Identifier: Apache-2.0
// Packing weights: rows as they stand in a file into the described layouts, changing the codec on
// the way.
#pragma once

#include <cstdint>

#include "colibri/kernels.h"
#include "plugins/cpu_common/operators.h"

namespace colibri::cpu {

// The layout of weight `index` of the operator: R8, but a norm's weight stays a row of f32.
void choose_layout(const OperatorState& state, colibri_layout* layout, uint64_t* bytes);

// colibri_kernels_0::pack. [worker]
colibri_status pack(const colibri_layout* layout, const colibri_tensor* from, void* to,
                    int64_t row_begin);

}  // namespace colibri::cpu
