// SPDX-License-Identifier: Apache-2.0
// Operators as text, for messages and plans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/kernels.h"

namespace colibri::plugin {

const char* operator_name(uint32_t op);            // "grouped_matmul"; "" for an unknown number
uint32_t operator_of_name(std::string_view name);  // 0 for an unknown name
std::vector<std::string_view> operator_names();

// "norm (kind rms, eps 1e-05, output_dtype f32; weight f32 [64]; up to 512 rows)"; options that are
// off are left out. [any]
std::string describe(const colibri_op_desc& desc);

}  // namespace colibri::plugin
