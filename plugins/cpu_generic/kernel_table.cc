// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_generic/kernel_table.h"

#include "plugins/cpu_common/frontend.h"
#include "plugins/cpu_generic/operators.h"

namespace colibri::cpu_generic {
namespace {

constexpr cpu::Operators make_operators() {
  cpu::Operators operators = {};
  operators.code[COLIBRI_OP_EMBED] = {embed, nullptr};
  operators.code[COLIBRI_OP_NORM] = {norm, nullptr};
  operators.code[COLIBRI_OP_QUANTIZE_ROWS] = {quantize_rows, nullptr};
  operators.code[COLIBRI_OP_GROUPED_MATMUL] = {grouped_matmul, nullptr};
  operators.code[COLIBRI_OP_ROPE] = {rope, nullptr};
  operators.code[COLIBRI_OP_KV_WRITE] = {kv_write, nullptr};
  operators.code[COLIBRI_OP_ATTENTION] = {attention, attention_scratch_bytes};
  operators.code[COLIBRI_OP_MLA_ATTENTION] = {mla_attention, mla_attention_scratch_bytes};
  operators.code[COLIBRI_OP_ROUTER] = {router, router_scratch_bytes};
  operators.code[COLIBRI_OP_COMBINE] = {combine, nullptr};
  return operators;
}

constexpr cpu::Operators kOperators = make_operators();

}  // namespace

constexpr colibri_kernels_0 kKernelTable = cpu::kernel_table<kOperators>();

}  // namespace colibri::cpu_generic
