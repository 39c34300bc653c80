// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/staged_table.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "runtime/base/log.h"
#include "tests/gpu/staged_call.h"

namespace colibri::gpu_check {
namespace {

const colibri_kernels_0* kernels_of_device = nullptr;
const colibri_device_0* device_of_process = nullptr;
std::mutex turns;

// Stands before the operator's own state.
struct alignas(64) Head {
  uint32_t op = 0;
  uint64_t scratch_bytes = 0;
  union {
    colibri_rope_attributes rope;
    colibri_attention_attributes attention;
    colibri_router_attributes router;
    colibri_combine_attributes combine;
  };
};
const void* own_state(const void* state) {
  return static_cast<const char*>(state) + sizeof(Head);
}

colibri_status create(const colibri_op_desc* desc, const colibri_host* host, void* state,
                      colibri_op_info* info, colibri_error* error) {
  void* own = state == nullptr ? nullptr : static_cast<char*>(state) + sizeof(Head);
  const colibri_status status = kernels_of_device->op_create(desc, host, own, info, error);
  if (status != COLIBRI_OK) return status;
  if (state != nullptr) {
    Head head = {};
    head.op = desc->op;
    head.scratch_bytes = info->scratch_bytes;
    const void* attributes = desc->attributes;
    if (desc->op == COLIBRI_OP_ROPE) std::memcpy(&head.rope, attributes, sizeof(head.rope));
    if (desc->op == COLIBRI_OP_ATTENTION)
      std::memcpy(&head.attention, attributes, sizeof(head.attention));
    if (desc->op == COLIBRI_OP_ROUTER) std::memcpy(&head.router, attributes, sizeof(head.router));
    if (desc->op == COLIBRI_OP_COMBINE)
      std::memcpy(&head.combine, attributes, sizeof(head.combine));
    std::memcpy(state, &head, sizeof(head));
  }
  info->state_bytes += sizeof(Head);
  info->scratch_bytes = 0;  // it is the device's
  return COLIBRI_OK;
}

int64_t most(const int32_t* list, int64_t count) {
  return list == nullptr || count == 0 ? 0 : *std::max_element(list, list + count);
}

Status put(StagedCall& call, const Head&, colibri_embed_args& a) {
  COLIBRI_TRY(call.weight(a.table));
  COLIBRI_TRY(call.rows(a.ids, false));
  return call.rows(a.output, true);
}

Status put(StagedCall& call, const Head&, colibri_norm_args& a) {
  COLIBRI_TRY(call.rows(a.weight, false));
  COLIBRI_TRY(call.rows(a.input, false));
  return call.rows(a.output, true);
}

Status put(StagedCall& call, const Head&, colibri_quantize_rows_args& a) {
  COLIBRI_TRY(call.rows(a.input, false));
  return call.rows(a.output, true);
}

Status put(StagedCall& call, const Head&, colibri_grouped_matmul_args& a) {
  const int64_t weights = a.groups * a.weights_per_group;
  colibri_tensor* weight = call.copy(a.weight, weights);
  colibri_tensor* bias = call.copy(a.bias, weights);
  for (int64_t i = 0; i < weights; ++i) {
    COLIBRI_TRY(call.weight(weight[i]));
    if (bias != nullptr) COLIBRI_TRY(call.rows(bias[i], false));
  }
  const int64_t products = a.groups == 0 ? 0 : a.group_begin[a.groups];
  COLIBRI_TRY(call.list(a.row_index, products));
  COLIBRI_TRY(call.list(a.output_index, products));
  COLIBRI_TRY(call.rows(a.input, false));
  return call.rows(a.output, true);
}

Status put(StagedCall& call, const Head& head, colibri_rope_args& a) {
  const int64_t numbers = (most(a.position, a.x.shape[0]) + 1) * head.rope.dims / 2;
  COLIBRI_TRY(call.list(a.cosine, numbers));
  COLIBRI_TRY(call.list(a.sine, numbers));
  return call.rows(a.x, true);
}

// The caches of all sequences of a call of kv_write or attention.
template <typename Arguments>
Status put_caches(StagedCall& call, Arguments& a, int64_t rows, bool written) {
  if (rows == 0) return {};
  const int64_t sequences = most(a.sequence, rows) + 1;
  colibri_tensor* keys = call.copy(a.k_cache, sequences);
  colibri_tensor* values = call.copy(a.v_cache, sequences);
  for (int64_t i = 0; i < sequences; ++i) {
    COLIBRI_TRY(call.cache(keys[i], written));
    if (values != nullptr) COLIBRI_TRY(call.cache(values[i], written));
  }
  return {};
}

Status put(StagedCall& call, const Head&, colibri_kv_write_args& a) {
  COLIBRI_TRY(put_caches(call, a, a.k.shape[0], true));
  COLIBRI_TRY(call.rows(a.k, false));
  return call.rows(a.v, false);
}

Status put(StagedCall& call, const Head& head, colibri_attention_args& a) {
  COLIBRI_TRY(put_caches(call, a, a.q.shape[0], false));
  COLIBRI_TRY(call.list(a.sink, head.attention.heads));
  COLIBRI_TRY(call.rows(a.q, false));
  return call.rows(a.output, true);
}

Status put(StagedCall& call, const Head& head, colibri_router_args& a) {
  const int64_t experts = head.router.experts > 0 ? head.router.experts : a.weight.shape[0];
  if (head.router.experts == 0) COLIBRI_TRY(call.weight(a.weight));
  COLIBRI_TRY(call.list(a.bias, experts));
  COLIBRI_TRY(call.list(a.select_bias, experts));
  COLIBRI_TRY(call.rows(a.input, false));
  COLIBRI_TRY(call.rows(a.expert, true));
  return call.rows(a.score, true);
}

Status put(StagedCall& call, const Head& head, colibri_combine_args& a) {
  const int64_t slots = a.output.shape[0] * head.combine.slots;
  COLIBRI_TRY(call.list(a.row_index, slots));
  COLIBRI_TRY(call.list(a.weight, slots));
  COLIBRI_TRY(call.rows(a.residual, false));
  COLIBRI_TRY(call.rows(a.row, false));
  return call.rows(a.output, true);
}

template <typename Arguments>
Status run_as(const void* state, const void* arguments) {
  const Head& head = *static_cast<const Head*>(state);
  Arguments staged = *static_cast<const Arguments*>(arguments);
  StagedCall call(*device_of_process);
  COLIBRI_TRY(call.open());
  COLIBRI_TRY(put(call, head, staged));
  return call.run(own_state(state), &staged, head.scratch_bytes);
}

Status run_staged(const void* state, const void* arguments) {
  switch (static_cast<const Head*>(state)->op) {
    case COLIBRI_OP_EMBED:
      return run_as<colibri_embed_args>(state, arguments);
    case COLIBRI_OP_NORM:
      return run_as<colibri_norm_args>(state, arguments);
    case COLIBRI_OP_QUANTIZE_ROWS:
      return run_as<colibri_quantize_rows_args>(state, arguments);
    case COLIBRI_OP_GROUPED_MATMUL:
      return run_as<colibri_grouped_matmul_args>(state, arguments);
    case COLIBRI_OP_ROPE:
      return run_as<colibri_rope_args>(state, arguments);
    case COLIBRI_OP_KV_WRITE:
      return run_as<colibri_kv_write_args>(state, arguments);
    case COLIBRI_OP_ATTENTION:
      return run_as<colibri_attention_args>(state, arguments);
    case COLIBRI_OP_ROUTER:
      return run_as<colibri_router_args>(state, arguments);
    case COLIBRI_OP_COMBINE:
      return run_as<colibri_combine_args>(state, arguments);
    default:
      return internal_error("no way to put this operator on a device");
  }
}

}  // namespace

colibri_kernels_0 staged_table(const colibri_kernels_0& kernels, const colibri_device_0& device) {
  kernels_of_device = &kernels;
  device_of_process = &device;
  colibri_kernels_0 table = kernels;
  table.op_create = create;
  table.op_tasks = [](const void*, const void*) { return int64_t{1}; };
  table.op_run = [](const void* state, const void* arguments, int64_t, int64_t,
                    void*) -> colibri_status {
    const std::lock_guard lock(turns);
    const Status status = run_staged(state, arguments);
    if (!status.ok()) log(COLIBRI_LOG_ERROR, status.text());
    return status.code();
  };
  return table;
}

}  // namespace colibri::gpu_check
