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
  return operators;
}();

constexpr uint32_t kAttributeSize[COLIBRI_OP_COUNT] = {0,
                                                       sizeof(colibri_embed_attributes),
                                                       sizeof(colibri_norm_attributes),
                                                       sizeof(colibri_quantize_rows_attributes),
                                                       sizeof(colibri_grouped_matmul_attributes),
                                                       sizeof(colibri_rope_attributes),
                                                       sizeof(colibri_kv_write_attributes),
                                                       sizeof(colibri_attention_attributes),
                                                       sizeof(colibri_router_attributes),
                                                       sizeof(colibri_combine_attributes),
                                                       0};

struct DoNothing {
  template <uint32_t>
  void operator()() const {}
};

// Why there are no kernels for what the CPU plugins compute; nullptr = there are.
const char* why_not_here(const OperatorState& state) {
  const auto has_cache = [](uint32_t dtype) { return dtype != COLIBRI_CODEC_Q8_0; };
  const bool has_weight = state.weight_codec != COLIBRI_CODEC_NONE;
  if (has_weight && !with_codec(state.weight_codec, DoNothing()))
    return "has kernels for f32, f16, bf16, q8_0, q4_0 and q4_K weights only";
  switch (state.op) {
    case COLIBRI_OP_MLA_ATTENTION:
      return "has no kernel for mla_attention";
    case COLIBRI_OP_KV_WRITE:
      return has_cache(state.kv_write.cache_dtype) ? nullptr : "has kernels for f32 and f16 caches";
    case COLIBRI_OP_ATTENTION:
      if (!has_cache(state.attention.cache_dtype)) return "has kernels for f32 and f16 caches";
      return state.attention.head_dim <= kMostHeadDim
                 ? nullptr
                 : "has kernels for heads of up to 512 numbers";
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
  table.numerics = COLIBRI_NUMERICS_DETERMINISTIC;
  table.supports = supports;
  table.op_create = create;
  // colibri/device.h: operators run on queues.
  table.op_tasks = [](const void*, const void*) { return int64_t{0}; };
  table.op_run = [](const void*, const void*, int64_t, int64_t, void*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.attribute_size = kAttributeSize;
  return table;
}();

}  // namespace

const colibri_kernels_0& kernel_table() {
  return kTable;
}

colibri_status run(const void* state, const void* arguments, cudaStream_t stream, void* scratch) {
  const auto& op = *static_cast<const OperatorState*>(state);
  if (!cpu::arguments_fit(op, arguments)) return COLIBRI_INVALID_ARGUMENT;
  switch (op.op) {
    case COLIBRI_OP_EMBED:
      return embed(op, arguments, stream, scratch);
    case COLIBRI_OP_NORM:
      return norm(op, arguments, stream, scratch);
    case COLIBRI_OP_QUANTIZE_ROWS:
      return quantize_rows(op, arguments, stream, scratch);
    case COLIBRI_OP_GROUPED_MATMUL:
      return grouped_matmul(op, arguments, stream, scratch);
    case COLIBRI_OP_ROPE:
      return rope(op, arguments, stream, scratch);
    case COLIBRI_OP_KV_WRITE:
      return kv_write(op, arguments, stream, scratch);
    case COLIBRI_OP_ATTENTION:
      return attention(op, arguments, stream, scratch);
    case COLIBRI_OP_ROUTER:
      return router(op, arguments, stream, scratch);
    case COLIBRI_OP_COMBINE:
      return combine(op, arguments, stream, scratch);
    default:
      return COLIBRI_INVALID_ARGUMENT;
  }
}

}  // namespace colibri::cuda
