// SPDX-License-Identifier: Apache-2.0
// All operators for one instruction set: what a plugin hands to the frontend.
//
//   constexpr Operators kOperators = operators_for<Avx2>();
//   constexpr colibri_kernels_0 kTable = kernel_table<kOperators>();
#pragma once

#include "plugins/cpu_common/attention.h"
#include "plugins/cpu_common/combine.h"
#include "plugins/cpu_common/embed.h"
#include "plugins/cpu_common/frontend.h"
#include "plugins/cpu_common/grouped_matmul.h"
#include "plugins/cpu_common/kv_write.h"
#include "plugins/cpu_common/mla_attention.h"
#include "plugins/cpu_common/norm.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/quantize_rows.h"
#include "plugins/cpu_common/rope.h"
#include "plugins/cpu_common/router.h"

namespace colibri::cpu {

template <class S>
constexpr Operators operators_for() {
  // The lambdas keep code for this instruction set local to its file (simd.h).
  Operators operators = {};
  operators.code[COLIBRI_OP_EMBED] = {run_embed, nullptr};
  operators.code[COLIBRI_OP_NORM] = {run_norm<S>, nullptr};
  operators.code[COLIBRI_OP_QUANTIZE_ROWS] = {run_quantize_rows<S>, nullptr};
  operators.code[COLIBRI_OP_GROUPED_MATMUL] = {
      run_grouped_matmul<S>,
      [](const OperatorState& state) { return ProductScratch::bytes(state); }};
  operators.code[COLIBRI_OP_ROPE] = {run_rope<S>, nullptr};
  operators.code[COLIBRI_OP_KV_WRITE] = {run_kv_write<S>, nullptr};
  operators.code[COLIBRI_OP_ATTENTION] = {run_attention<S>, [](const OperatorState& state) {
                                            return attention_scratch_bytes(state.attention);
                                          }};
  operators.code[COLIBRI_OP_MLA_ATTENTION] = {run_mla_attention<S>, [](const OperatorState& state) {
                                                return LatentScratch::bytes(state.mla_attention);
                                              }};
  operators.code[COLIBRI_OP_ROUTER] = {
      run_router<S>, [](const OperatorState& state) { return RouterScratch::bytes(state); }};
  operators.code[COLIBRI_OP_COMBINE] = {run_combine<S>, nullptr};
  return operators;
}

}  // namespace colibri::cpu
