// SPDX-License-Identifier: Apache-2.0
// How fast the tensor cores of a GPU multiply int8 matrices by the instruction that plugins/cuda uses.
#pragma once

#include <cstdint>

namespace colibri::gpu_check {

// Operations per second of GPU 0, two for a product and its sum: mma.sync on numbers that stay in
// registers, all multiprocessors full. 0 = it could not be measured, and *why says so (static text).
double tensor_core_rate(const char** why);

}  // namespace colibri::gpu_check
