// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/tasks.h"

namespace colibri::cpu {
namespace {

template <typename Arguments>
const Arguments& as(const void* arguments) {
  return *static_cast<const Arguments*>(arguments);
}

int64_t count_product_tasks(const OperatorState& state, const colibri_grouped_matmul_args& call) {
  const int64_t across = divide_up(panels_of(state.rows), kTaskPanels);
  int64_t tasks = 0;
  for (int64_t group = 0; group < call.groups; ++group) {
    tasks += divide_up(call.group_begin[group + 1] - call.group_begin[group], kTaskRows) * across;
  }
  return tasks;
}

}  // namespace

int64_t count_tasks(const OperatorState& state, const void* arguments) {
  switch (state.op) {
    case COLIBRI_OP_EMBED:
      return as<colibri_embed_args>(arguments).output.shape[0];
    case COLIBRI_OP_NORM:
      return as<colibri_norm_args>(arguments).output.shape[0];
    case COLIBRI_OP_QUANTIZE_ROWS:
      return as<colibri_quantize_rows_args>(arguments).output.shape[0];
    case COLIBRI_OP_GROUPED_MATMUL:
      return count_product_tasks(state, as<colibri_grouped_matmul_args>(arguments));
    case COLIBRI_OP_ROPE:
      return as<colibri_rope_args>(arguments).x.shape[0];
    case COLIBRI_OP_KV_WRITE:
      return as<colibri_kv_write_args>(arguments).k.shape[0];
    case COLIBRI_OP_ATTENTION:
      return divide_up(as<colibri_attention_args>(arguments).q.shape[0], kAttentionRows) *
             state.attention.kv_heads;
    case COLIBRI_OP_MLA_ATTENTION:
      return divide_up(as<colibri_mla_attention_args>(arguments).q_latent.shape[0] /
                           state.mla_attention.heads,
                       kLatentRows) *
             divide_up(state.mla_attention.heads, kLatentHeads);
    case COLIBRI_OP_ROUTER:
      return divide_up(as<colibri_router_args>(arguments).input.shape[0], kRouterRows);
    case COLIBRI_OP_COMBINE:
      return as<colibri_combine_args>(arguments).output.shape[0];
    default:
      return 0;
  }
}

}  // namespace colibri::cpu
