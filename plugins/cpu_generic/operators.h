// SPDX-License-Identifier: Apache-2.0
// The scalar reference of every operator: docs/numerics.md as code. Written to be read; other
// plugins are fast, and their bytes must equal these.
#pragma once

#include "plugins/cpu_common/operators.h"

namespace colibri::cpu_generic {

using cpu::OperatorState;
using cpu::TaskRange;

colibri_status embed(const OperatorState& state, const void* arguments, TaskRange tasks,
                     void* scratch);
colibri_status norm(const OperatorState& state, const void* arguments, TaskRange tasks,
                    void* scratch);
colibri_status quantize_rows(const OperatorState& state, const void* arguments, TaskRange tasks,
                             void* scratch);
colibri_status grouped_matmul(const OperatorState& state, const void* arguments, TaskRange tasks,
                              void* scratch);
colibri_status rope(const OperatorState& state, const void* arguments, TaskRange tasks,
                    void* scratch);
colibri_status kv_write(const OperatorState& state, const void* arguments, TaskRange tasks,
                        void* scratch);
colibri_status attention(const OperatorState& state, const void* arguments, TaskRange tasks,
                         void* scratch);
int64_t attention_scratch_bytes(const OperatorState& state);
colibri_status mla_attention(const OperatorState& state, const void* arguments, TaskRange tasks,
                             void* scratch);
int64_t mla_attention_scratch_bytes(const OperatorState& state);
colibri_status router(const OperatorState& state, const void* arguments, TaskRange tasks,
                      void* scratch);
int64_t router_scratch_bytes(const OperatorState& state);
colibri_status combine(const OperatorState& state, const void* arguments, TaskRange tasks,
                       void* scratch);

}  // namespace colibri::cpu_generic
