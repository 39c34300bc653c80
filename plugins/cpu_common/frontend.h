// SPDX-License-Identifier: Apache-2.0
// The kernel table of a CPU plugin, made of the code of its operators. Everything but that code is
// the same in all of them.
#pragma once

#include "colibri/kernels.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/pack.h"

namespace colibri::cpu {

// Fills in *error, which may be NULL, and returns code.
colibri_status fail(colibri_error* error, colibri_status code, const char* text);
int32_t supports(const colibri_op_desc* desc, char why_not[128]);
colibri_status pack_layout(const colibri_op_desc* desc, uint32_t index, colibri_layout* wanted,
                           uint64_t* bytes, colibri_error* error);
colibri_status create(const Operators& operators, const colibri_op_desc* desc,
                      const colibri_host* host, void* state, colibri_op_info* info,
                      colibri_error* error);
// 1 for arguments that do not fit the operator, so that run() is called and says so.
int64_t task_count(const void* state, const void* arguments);
colibri_status run(const void* state, const void* arguments, int64_t task_begin, int64_t task_end,
                   void* scratch);

// constexpr colibri_kernels_0 table = kernel_table<my_operators>(); needs no initialiser at run
// time.
template <const Operators& operators>
constexpr colibri_kernels_0 kernel_table() {
  colibri_kernels_0 table = {};
  table.struct_size = sizeof(table);
  table.draft = COLIBRI_KERNELS_DRAFT;
  table.numerics = COLIBRI_NUMERICS_IDENTICAL;
  table.supports = supports;
  table.pack_layout = pack_layout;
  table.pack = pack;
  table.op_create = [](const colibri_op_desc* desc, const colibri_host* host, void* state,
                       colibri_op_info* info, colibri_error* error) {
    return create(operators, desc, host, state, info, error);
  };
  table.op_tasks = task_count;
  table.op_run = run;
  table.attribute_size = colibri_attribute_size;
  return table;
}

}  // namespace colibri::cpu
