// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/operators.h"

#include <cstdio>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/description.h"
#include "plugins/cpu_common/frontend.h"
#include "plugins/cuda/weight.cuh"

namespace colibri::cuda {
namespace {

// What is left of the frontend's operators here: how much scratch a call needs.
constexpr cpu::Operators kOperators = [] {
  cpu::Operators operators = {};
  operators.code[COLIBRI_OP_ATTENTION].scratch_bytes = attention_scratch_bytes;
  operators.code[COLIBRI_OP_MLA_ATTENTION].scratch_bytes = mla_attention_scratch_bytes;
  return operators;
}();

using Run = colibri_status (*)(const OperatorState& state, const void* arguments,
                               cudaStream_t stream, void* scratch);
struct Runs {
  Run of[COLIBRI_OP_COUNT];  // nullptr = there is none
};
constexpr Runs kRuns = [] {
  Runs runs = {};
  runs.of[COLIBRI_OP_EMBED] = embed;
  runs.of[COLIBRI_OP_NORM] = norm;
  runs.of[COLIBRI_OP_QUANTIZE_ROWS] = quantize_rows;
  runs.of[COLIBRI_OP_GROUPED_MATMUL] = grouped_matmul;
  runs.of[COLIBRI_OP_ROPE] = rope;
  runs.of[COLIBRI_OP_KV_WRITE] = kv_write;
  runs.of[COLIBRI_OP_ATTENTION] = attention;
  runs.of[COLIBRI_OP_MLA_ATTENTION] = mla_attention;
  runs.of[COLIBRI_OP_ROUTER] = router;
  runs.of[COLIBRI_OP_COMBINE] = combine;
  return runs;
}();

struct DoNothing {
  template <uint32_t>
  void operator()() const {}
};

// Why there are no kernels for what the CPU plugins compute; nullptr = there are.
const char* why_not_here(const OperatorState& state) {
  const bool has_weight = state.weight_codec != COLIBRI_CODEC_NONE;
  if (has_weight && !with_codec(state.weight_codec, DoNothing()))
    return "has kernels for f32, f16, bf16, q8_0, q4_0 and q4_K weights only";
  if (kRuns.of[state.op] == nullptr) return "has no kernel for this operator";
  switch (state.op) {
    case COLIBRI_OP_ATTENTION:
      return state.attention.head_dim <= kMostValueDim
                 ? nullptr
                 : "has kernels for heads of up to 512 numbers";
    case COLIBRI_OP_MLA_ATTENTION: {
      const auto& a = state.mla_attention;
      return a.latent <= kMostValueDim && a.latent + a.rope_dims <= kMostKeyDim
                 ? nullptr
                 : "has kernels for up to 512 latent numbers, and keys of up to 1024";
    }
    case COLIBRI_OP_ROUTER:
      return state.rows <= kMostExperts ? nullptr : "has a router for up to 1024 experts";
    default:
      return nullptr;
  }
}

int32_t supports(const colibri_op_desc* desc, char why_not[128]) {
  OperatorState state;
  if (!cpu::understand(desc, cpu::Weights::kAnyLayout, &state, why_not)) return 0;
  const char* reason = why_not_here(state);
  if (reason == nullptr) return 1;
  if (why_not != nullptr) std::snprintf(why_not, 128, "%s", reason);
  return 0;
}

colibri_status create(const colibri_op_desc* desc, const colibri_host* host, void* state,
                      colibri_op_info* info, colibri_error* error) {
  char why_not[128] = "";
  if (supports(desc, why_not) == 0) return cpu::fail(error, COLIBRI_UNSUPPORTED, why_not);
  return cpu::create(kOperators, desc, host, state, info, error);
}

constexpr colibri_kernels_0 kTable = [] {
  colibri_kernels_0 table = cpu::kernel_table<kOperators>();
  table.numerics = COLIBRI_NUMERICS_IDENTICAL;
  table.supports = supports;
  table.op_create = create;
  // colibri/device.h: operators run on queues.
  table.op_tasks = [](const void*, const void*) { return int64_t{0}; };
  table.op_run = [](const void*, const void*, int64_t, int64_t, void*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  return table;
}();

}  // namespace

const colibri_kernels_0& kernel_table() {
  return kTable;
}

colibri_status run(const void* state, const void* arguments, cudaStream_t stream, void* scratch) {
  const auto& op = *static_cast<const OperatorState*>(state);
  if (!cpu::arguments_fit(op, arguments)) return COLIBRI_INVALID_ARGUMENT;
  const Run run = kRuns.of[op.op];
  return run == nullptr ? COLIBRI_INVALID_ARGUMENT : run(op, arguments, stream, scratch);
}

}  // namespace colibri::cuda
