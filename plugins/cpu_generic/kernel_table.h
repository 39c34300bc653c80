// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "colibri/kernels.h"

namespace colibri::cpu_generic {

// The reference as a table, also for programs that link it.
extern const colibri_kernels_0 kKernelTable;

}  // namespace colibri::cpu_generic
