// SPDX-License-Identifier: Apache-2.0
// The memory that a call of an operator names: every tensor, list and array of its arguments, with
// its size. A Call is told of each and may put another address in its place:
//
//   rows(tensor, written)    rank 1 or 2, row-major
//   weight(tensor)           packed as R8, or row by row
//   cache(tensor, written)   of keys or values
//   list(numbers, count)     numbers that are read where kernels compute
//   host_list(numbers, count)  numbers that the host reads (colibri/device.h)
//   copy(tensors, count)     a copy of an array of tensors, which stands in its place from now on
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "colibri/kernels.h"
#include "plugins/cpu_common/layouts.h"
#include "runtime/base/status.h"

namespace colibri::device_test {

// Stands before the state of an operator that create() made: what the arguments alone do not tell.
struct alignas(64) Head {
  uint32_t op = 0;
  uint64_t scratch_bytes = 0;
  union {
    colibri_rope_attributes rope;
    colibri_attention_attributes attention;
    colibri_mla_attention_attributes mla_attention;
    colibri_router_attributes router;
    colibri_combine_attributes combine;
  };
};
inline const Head& head_of(const void* state) {
  return *static_cast<const Head*>(state);
}
inline const void* own_state(const void* state) {
  return static_cast<const char*>(state) + sizeof(Head);
}

// op_create() of `kernels`, with a Head before its state.
inline colibri_status create(const colibri_kernels_0& kernels, const colibri_op_desc* desc,
                             const colibri_host* host, void* state, colibri_op_info* info,
                             colibri_error* error) {
  void* own = state == nullptr ? nullptr : static_cast<char*>(state) + sizeof(Head);
  const colibri_status status = kernels.op_create(desc, host, own, info, error);
  if (status != COLIBRI_OK) return status;
  if (state != nullptr) {
    Head head = {};
    head.op = desc->op;
    head.scratch_bytes = info->scratch_bytes;
    const auto keep = [&](uint32_t op, auto& attributes) {
      if (desc->op == op) std::memcpy(&attributes, desc->attributes, sizeof(attributes));
    };
    keep(COLIBRI_OP_ROPE, head.rope);
    keep(COLIBRI_OP_ATTENTION, head.attention);
    keep(COLIBRI_OP_MLA_ATTENTION, head.mla_attention);
    keep(COLIBRI_OP_ROUTER, head.router);
    keep(COLIBRI_OP_COMBINE, head.combine);
    std::memcpy(state, &head, sizeof(head));
  }
  info->state_bytes += sizeof(Head);
  return COLIBRI_OK;
}

inline int64_t row_bytes(const colibri_tensor& tensor) {
  return tensor.dtype == COLIBRI_CODEC_Q8_32 ? tensor.shape[1] / 32 * 40 : tensor.shape[1] * 4;
}
inline int64_t bytes_of_rows(const colibri_tensor& tensor) {
  if (tensor.shape[0] == 0) return 0;
  if (tensor.rank == 1) return tensor.shape[0] * 4;
  return (tensor.shape[0] - 1) * tensor.stride[0] + row_bytes(tensor);
}
inline int64_t bytes_of_weight(const colibri_tensor& tensor) {
  return tensor.layout == COLIBRI_LAYOUT_ROWS
             ? tensor.shape[0] * cpu::file_row_bytes(tensor.dtype, tensor.shape[1])
             : cpu::panels_of(tensor.shape[0]) * cpu::panel_bytes(tensor.dtype, tensor.shape[1]);
}
inline int64_t bytes_of_cache(const colibri_tensor& tensor) {
  const CodecFacts& facts = *codec_facts(tensor.dtype);
  const int64_t numbers = tensor.shape[0] * tensor.shape[1] * tensor.shape[2] * tensor.shape[3];
  return numbers / facts.elements * facts.bytes;
}

inline int64_t most(const int32_t* list, int64_t count) {
  return list == nullptr || count == 0 ? 0 : *std::max_element(list, list + count);
}

template <typename Call>
Status visit(Call& call, const Head&, colibri_embed_args& a) {
  COLIBRI_TRY(call.weight(a.table));
  COLIBRI_TRY(call.rows(a.ids, false));
  return call.rows(a.output, true);
}

template <typename Call>
Status visit(Call& call, const Head&, colibri_norm_args& a) {
  COLIBRI_TRY(call.rows(a.weight, false));
  COLIBRI_TRY(call.rows(a.input, false));
  return call.rows(a.output, true);
}

template <typename Call>
Status visit(Call& call, const Head&, colibri_quantize_rows_args& a) {
  COLIBRI_TRY(call.rows(a.input, false));
  return call.rows(a.output, true);
}

template <typename Call>
Status visit(Call& call, const Head&, colibri_grouped_matmul_args& a) {
  const int64_t products = a.groups == 0 ? 0 : a.group_begin[a.groups];
  const int64_t weights = a.groups * a.weights_per_group;
  COLIBRI_TRY(call.host_list(a.group_begin, a.groups + 1));
  colibri_tensor* weight = call.copy(a.weight, weights);
  colibri_tensor* bias = call.copy(a.bias, weights);
  for (int64_t i = 0; i < weights; ++i) {
    COLIBRI_TRY(call.weight(weight[i]));
    if (bias != nullptr) COLIBRI_TRY(call.rows(bias[i], false));
  }
  COLIBRI_TRY(call.list(a.row_index, products));
  COLIBRI_TRY(call.list(a.output_index, products));
  COLIBRI_TRY(call.rows(a.input, false));
  return call.rows(a.output, true);
}

template <typename Call>
Status visit(Call& call, const Head& head, colibri_rope_args& a) {
  const int64_t numbers = (most(a.position, a.x.shape[0]) + 1) * head.rope.dims / 2;
  COLIBRI_TRY(call.host_list(a.position, a.x.shape[0]));
  COLIBRI_TRY(call.list(a.cosine, numbers));
  COLIBRI_TRY(call.list(a.sine, numbers));
  return call.rows(a.x, true);
}

// The caches of all sequences of a call, and which row is whose.
template <typename Call, typename Arguments>
Status visit_caches(Call& call, Arguments& a, int64_t rows, bool written,
                    const colibri_tensor*& keys, const colibri_tensor** values) {
  if (rows == 0) return {};
  const int64_t sequences = most(a.sequence, rows) + 1;
  COLIBRI_TRY(call.host_list(a.position, rows));
  COLIBRI_TRY(call.host_list(a.sequence, rows));
  colibri_tensor* k = call.copy(keys, sequences);
  colibri_tensor* v = values == nullptr ? nullptr : call.copy(*values, sequences);
  for (int64_t i = 0; i < sequences; ++i) {
    COLIBRI_TRY(call.cache(k[i], written));
    if (v != nullptr) COLIBRI_TRY(call.cache(v[i], written));
  }
  return {};
}

template <typename Call>
Status visit(Call& call, const Head&, colibri_kv_write_args& a) {
  COLIBRI_TRY(visit_caches(call, a, a.k.shape[0], true, a.k_cache, &a.v_cache));
  COLIBRI_TRY(call.rows(a.k, false));
  return call.rows(a.v, false);
}

template <typename Call>
Status visit(Call& call, const Head& head, colibri_attention_args& a) {
  COLIBRI_TRY(visit_caches(call, a, a.q.shape[0], false, a.k_cache, &a.v_cache));
  COLIBRI_TRY(call.list(a.sink, head.attention.heads));
  COLIBRI_TRY(call.rows(a.q, false));
  return call.rows(a.output, true);
}

template <typename Call>
Status visit(Call& call, const Head& head, colibri_mla_attention_args& a) {
  const int64_t rows = a.q_latent.shape[0] / head.mla_attention.heads;
  COLIBRI_TRY(visit_caches(call, a, rows, false, a.cache, nullptr));
  COLIBRI_TRY(call.rows(a.q_latent, false));
  COLIBRI_TRY(call.rows(a.q_rope, false));
  return call.rows(a.output, true);
}

template <typename Call>
Status visit(Call& call, const Head& head, colibri_router_args& a) {
  const int64_t experts = head.router.experts > 0 ? head.router.experts : a.weight.shape[0];
  if (head.router.experts == 0) COLIBRI_TRY(call.weight(a.weight));
  COLIBRI_TRY(call.list(a.bias, experts));
  COLIBRI_TRY(call.list(a.select_bias, experts));
  COLIBRI_TRY(call.rows(a.input, false));
  COLIBRI_TRY(call.rows(a.expert, true));
  return call.rows(a.score, true);
}

template <typename Call>
Status visit(Call& call, const Head& head, colibri_combine_args& a) {
  const int64_t slots = a.output.shape[0] * head.combine.slots;
  COLIBRI_TRY(call.list(a.row_index, slots));
  COLIBRI_TRY(call.list(a.weight, slots));
  COLIBRI_TRY(call.rows(a.residual, false));
  COLIBRI_TRY(call.rows(a.row, false));
  return call.rows(a.output, true);
}

// Calls use(arguments) with the arguments as the type that the operator has.
template <typename Use>
Status with_arguments(const Head& head, const void* arguments, const Use& use) {
  const auto as = [&]<typename Arguments>(Arguments*) {
    return use(*static_cast<const Arguments*>(arguments));
  };
  switch (head.op) {
    case COLIBRI_OP_EMBED:
      return as(static_cast<colibri_embed_args*>(nullptr));
    case COLIBRI_OP_NORM:
      return as(static_cast<colibri_norm_args*>(nullptr));
    case COLIBRI_OP_QUANTIZE_ROWS:
      return as(static_cast<colibri_quantize_rows_args*>(nullptr));
    case COLIBRI_OP_GROUPED_MATMUL:
      return as(static_cast<colibri_grouped_matmul_args*>(nullptr));
    case COLIBRI_OP_ROPE:
      return as(static_cast<colibri_rope_args*>(nullptr));
    case COLIBRI_OP_KV_WRITE:
      return as(static_cast<colibri_kv_write_args*>(nullptr));
    case COLIBRI_OP_ATTENTION:
      return as(static_cast<colibri_attention_args*>(nullptr));
    case COLIBRI_OP_MLA_ATTENTION:
      return as(static_cast<colibri_mla_attention_args*>(nullptr));
    case COLIBRI_OP_ROUTER:
      return as(static_cast<colibri_router_args*>(nullptr));
    case COLIBRI_OP_COMBINE:
      return as(static_cast<colibri_combine_args*>(nullptr));
    default:
      return internal_error("no such operator");
  }
}

}  // namespace colibri::device_test
