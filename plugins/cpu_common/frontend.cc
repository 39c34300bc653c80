// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/frontend.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/description.h"
#include "plugins/cpu_common/pack.h"
#include "plugins/cpu_common/tasks.h"

namespace colibri::cpu {

colibri_status fail(colibri_error* error, colibri_status code, const char* text) {
  if (error != nullptr && error->struct_size >= sizeof(*error)) {
    error->code = code;
    std::snprintf(error->text, sizeof(error->text), "%s", text);
  }
  return code;
}

int32_t supports(const colibri_op_desc* desc, char why_not[128]) {
  OperatorState state;
  return understand(desc, Weights::kAnyLayout, &state, why_not) ? 1 : 0;
}

colibri_status pack_layout(const colibri_op_desc* desc, uint32_t index, colibri_layout* wanted,
                           uint64_t* bytes, colibri_error* error) {
  OperatorState state;
  char why_not[128] = "";
  if (!understand(desc, Weights::kAnyLayout, &state, why_not))
    return fail(error, COLIBRI_UNSUPPORTED, why_not);
  if (index >= desc->weight_count)
    return fail(error, COLIBRI_INVALID_ARGUMENT, "the operator has no such weight");
  if (wanted == nullptr || wanted->struct_size < sizeof(*wanted) || bytes == nullptr) {
    return fail(error, COLIBRI_INVALID_ARGUMENT, "no place for the layout");
  }
  choose_layout(state, wanted, bytes);
  return COLIBRI_OK;
}

colibri_status create(const Operators& operators, const colibri_op_desc* desc,
                      const colibri_host* host, void* state, colibri_op_info* info,
                      colibri_error* error) {
  OperatorState made;
  char why_not[128] = "";
  if (!understand(desc, Weights::kPacked, &made, why_not))
    return fail(error, COLIBRI_UNSUPPORTED, why_not);
  if (host == nullptr || host->math == nullptr)
    return fail(error, COLIBRI_INVALID_ARGUMENT, "the host has no math table");
  if (info == nullptr || info->struct_size < sizeof(*info)) {
    return fail(error, COLIBRI_INVALID_ARGUMENT, "no place for the sizes");
  }
  made.operator_code = &operators.code[made.op];
  made.math = host->math;
  info->state_bytes = sizeof(OperatorState);
  info->scratch_bytes = made.operator_code->scratch_bytes == nullptr
                            ? 0
                            : static_cast<uint64_t>(made.operator_code->scratch_bytes(made));
  if (state != nullptr) new (state) OperatorState(made);
  return COLIBRI_OK;
}

int64_t task_count(const void* state, const void* arguments) {
  const auto& op = *static_cast<const OperatorState*>(state);
  return arguments_fit(op, arguments) ? count_tasks(op, arguments) : 1;
}

colibri_status run(const void* state, const void* arguments, int64_t task_begin, int64_t task_end,
                   void* scratch) {
  const auto& op = *static_cast<const OperatorState*>(state);
  if (!arguments_fit(op, arguments)) return COLIBRI_INVALID_ARGUMENT;
  const int64_t count = count_tasks(op, arguments);
  if (task_begin < 0 || task_begin > task_end || task_end > count) return COLIBRI_INVALID_ARGUMENT;
  if (task_begin == task_end) return COLIBRI_OK;
  return op.operator_code->run(op, arguments, {task_begin, task_end}, scratch);
}

}  // namespace colibri::cpu
