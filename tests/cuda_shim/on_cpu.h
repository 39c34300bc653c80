// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/cuda/operators.h"

namespace colibri::cuda {

// The plugin's kernels as a table of the CPU: op_run() runs the operator, in one task, on fibers.
inline colibri_kernels_0 table_on_cpu() {
  colibri_kernels_0 table = kernel_table();
  table.op_tasks = [](const void*, const void*) { return int64_t{1}; };
  table.op_run = [](const void* state, const void* arguments, int64_t, int64_t, void* scratch) {
    return run(state, arguments, nullptr, scratch);
  };
  return table;
}

}  // namespace colibri::cuda
