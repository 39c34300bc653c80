// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/arguments.h"

#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {
namespace {

bool has_rows(const colibri_tensor& t, int64_t cols, int64_t row_bytes, int64_t element_bytes) {
  if (t.struct_size < sizeof(t) || t.rank != 2 || t.layout != COLIBRI_LAYOUT_ROWS) return false;
  if (t.shape[0] < 0 || t.shape[1] != cols) return false;
  if (t.shape[0] == 0) return true;
  return t.buffer != nullptr && (t.shape[0] == 1 || t.stride[0] >= row_bytes) &&
         t.stride[0] % element_bytes == 0;
}
bool is_f32(const colibri_tensor& t, int64_t cols) {
  return t.dtype == COLIBRI_CODEC_F32 && has_rows(t, cols, cols * 4, 4);
}
bool is_i32(const colibri_tensor& t, int64_t cols) {
  return t.dtype == COLIBRI_CODEC_I32 && has_rows(t, cols, cols * 4, 4);
}
bool is_prepared(const colibri_tensor& t, int64_t cols) {
  return t.dtype == COLIBRI_CODEC_Q8_32 && cols % kBlockCols == 0 &&
         has_rows(t, cols, cols / kBlockCols * 40, 4);
}
// A list that an attribute asks for is there (of no numbers it may be missing), and one that it does
// not ask for is not: it would be ignored.
bool is_given(uint32_t attribute, const void* list, int64_t count) {
  return attribute == 0 ? list == nullptr : list != nullptr || count == 0;
}
// f32 or q8_32, as the attributes say.
bool is_activation(const colibri_tensor& t, uint32_t dtype, int64_t cols) {
  return dtype == COLIBRI_CODEC_F32 ? is_f32(t, cols) : is_prepared(t, cols);
}

bool fit(const OperatorState& state, const colibri_embed_args& call) {
  const int64_t rows = call.output.shape[0];
  const colibri_tensor& ids = call.ids;
  return is_f32(call.output, state.cols) && packed_weight(state, call.table) != nullptr &&
         ids.struct_size >= sizeof(ids) && ids.dtype == COLIBRI_CODEC_I32 && ids.rank == 1 &&
         ids.shape[0] == rows &&
         (rows == 0 || (ids.buffer != nullptr && (rows == 1 || ids.stride[0] == 4)));
}

bool fit(const OperatorState& state, const colibri_norm_args& call) {
  const colibri_tensor& weight = call.weight;
  return weight.struct_size >= sizeof(weight) && weight.dtype == COLIBRI_CODEC_F32 &&
         weight.rank == 1 && weight.shape[0] == state.cols && weight.buffer != nullptr &&
         is_f32(call.input, state.cols) &&
         is_activation(call.output, state.norm.output_dtype, state.cols) &&
         call.input.shape[0] == call.output.shape[0];
}

bool fit(const OperatorState&, const colibri_quantize_rows_args& call) {
  const int64_t cols = call.input.shape[1];
  return cols >= 1 && cols <= INT32_MAX && is_f32(call.input, cols) &&
         is_prepared(call.output, cols) && call.input.shape[0] == call.output.shape[0];
}

bool fit(const OperatorState& state, const colibri_grouped_matmul_args& call) {
  const auto& a = state.grouped_matmul;
  const uint32_t weights = a.epilogue == COLIBRI_EPILOGUE_GATED ? 2 : 1;
  if (call.weights_per_group != weights || call.groups < 0) return false;
  if (!is_activation(call.input, a.input_dtype, state.cols)) return false;
  if (!is_activation(call.output, a.output_dtype, state.rows)) return false;
  if (call.output_index != nullptr && a.output_dtype != COLIBRI_CODEC_F32) return false;
  if (!is_given(a.bias, call.bias, call.groups)) return false;
  if (call.groups == 0) return true;
  if (call.group_begin == nullptr || call.weight == nullptr || call.group_begin[0] < 0)
    return false;
  for (int64_t group = 0; group < call.groups; ++group) {
    if (call.group_begin[group] > call.group_begin[group + 1]) return false;
  }
  return call.output_index != nullptr || call.group_begin[call.groups] <= call.output.shape[0];
}

bool fit(const OperatorState& state, const colibri_rope_args& call) {
  const bool has_lists = call.position != nullptr && call.cosine != nullptr && call.sine != nullptr;
  return is_f32(call.x, state.rope.heads * state.rope.head_dim) &&
         (has_lists || call.x.shape[0] == 0);
}

bool fit(const OperatorState& state, const colibri_kv_write_args& call) {
  const int64_t cols = state.kv_write.kv_heads * state.kv_write.head_dim;
  if (!is_f32(call.k, cols)) return false;
  const bool has_keys = call.position != nullptr && call.k_cache != nullptr;
  if (state.kv_write.keys_only == 1) return has_keys || call.k.shape[0] == 0;
  return is_f32(call.v, cols) && call.k.shape[0] == call.v.shape[0] &&
         ((has_keys && call.v_cache != nullptr) || call.k.shape[0] == 0);
}

bool fit(const OperatorState& state, const colibri_attention_args& call) {
  const int64_t cols = state.attention.heads * state.attention.head_dim;
  const bool has_lists =
      call.position != nullptr && call.k_cache != nullptr && call.v_cache != nullptr;
  return is_f32(call.q, cols) && is_f32(call.output, cols) &&
         call.q.shape[0] == call.output.shape[0] && (has_lists || call.q.shape[0] == 0) &&
         is_given(state.attention.sinks, call.sink, call.q.shape[0]);
}

bool fit(const OperatorState& state, const colibri_mla_attention_args& call) {
  const auto& a = state.mla_attention;
  const int64_t rows = call.q_latent.shape[0];  // of all heads
  return is_f32(call.q_latent, a.latent) && is_f32(call.q_rope, a.rope_dims) &&
         is_f32(call.output, a.latent) && rows % a.heads == 0 && call.q_rope.shape[0] == rows &&
         call.output.shape[0] == rows &&
         ((call.position != nullptr && call.cache != nullptr) || rows == 0);
}

bool fit(const OperatorState& state, const colibri_router_args& call) {
  const int64_t rows = call.input.shape[0];
  const int64_t top_k = state.router.top_k;
  if (state.router.experts == 0 && packed_weight(state, call.weight) == nullptr) return false;
  return is_f32(call.input, state.cols) && is_i32(call.expert, top_k) &&
         is_f32(call.score, top_k) && call.expert.shape[0] == rows && call.score.shape[0] == rows &&
         is_given(state.router.bias, call.bias, rows) &&
         is_given(state.router.select_bias, call.select_bias, rows);
}

bool fit(const OperatorState& state, const colibri_combine_args& call) {
  const int64_t cols = call.output.shape[1];
  if (cols < 1 || cols > INT32_MAX) return false;
  if (!is_f32(call.residual, cols) || !is_f32(call.row, cols) || !is_f32(call.output, cols))
    return false;
  const int64_t rows = call.output.shape[0];
  return call.residual.shape[0] == rows &&
         (call.row_index != nullptr || rows <= call.row.shape[0] / state.combine.slots);
}

template <typename Arguments>
bool fit_as(const OperatorState& state, const void* arguments) {
  const auto& call = *static_cast<const Arguments*>(arguments);
  return call.struct_size >= sizeof(Arguments) && fit(state, call);
}

bool is_cache(const colibri_tensor& t, uint32_t dtype, int64_t kv_heads, int64_t width) {
  return t.struct_size >= sizeof(t) && t.dtype == dtype && t.rank == 4 && t.buffer != nullptr &&
         t.shape[0] == kv_heads && t.shape[1] >= 0 && t.shape[1] <= INT32_MAX &&
         t.shape[2] == width && t.shape[3] == COLIBRI_KV_BLOCK;
}

}  // namespace

bool arguments_fit(const OperatorState& state, const void* arguments) {
  if (arguments == nullptr) return false;
  switch (state.op) {
    case COLIBRI_OP_EMBED:
      return fit_as<colibri_embed_args>(state, arguments);
    case COLIBRI_OP_NORM:
      return fit_as<colibri_norm_args>(state, arguments);
    case COLIBRI_OP_QUANTIZE_ROWS:
      return fit_as<colibri_quantize_rows_args>(state, arguments);
    case COLIBRI_OP_GROUPED_MATMUL:
      return fit_as<colibri_grouped_matmul_args>(state, arguments);
    case COLIBRI_OP_ROPE:
      return fit_as<colibri_rope_args>(state, arguments);
    case COLIBRI_OP_KV_WRITE:
      return fit_as<colibri_kv_write_args>(state, arguments);
    case COLIBRI_OP_ATTENTION:
      return fit_as<colibri_attention_args>(state, arguments);
    case COLIBRI_OP_MLA_ATTENTION:
      return fit_as<colibri_mla_attention_args>(state, arguments);
    case COLIBRI_OP_ROUTER:
      return fit_as<colibri_router_args>(state, arguments);
    case COLIBRI_OP_COMBINE:
      return fit_as<colibri_combine_args>(state, arguments);
    default:
      return false;
  }
}

const uint8_t* packed_weight(const OperatorState& state, const colibri_tensor& weight) {
  const bool fits = weight.struct_size >= sizeof(weight) && weight.dtype == state.weight_codec &&
                    weight.layout == state.weight_layout && weight.rank == 2 &&
                    weight.shape[0] == state.rows && weight.shape[1] == state.cols &&
                    weight.buffer != nullptr;
  return fits ? tensor_bytes(weight) : nullptr;
}

const float* bias_numbers(const OperatorState& state, const colibri_tensor& bias) {
  const bool fits = bias.struct_size >= sizeof(bias) && bias.dtype == COLIBRI_CODEC_F32 &&
                    bias.layout == COLIBRI_LAYOUT_ROWS && bias.rank == 1 &&
                    bias.shape[0] == state.rows && bias.buffer != nullptr;
  return fits ? reinterpret_cast<const float*>(tensor_bytes(bias)) : nullptr;
}

KeyValueCache key_cache(const colibri_tensor& keys, uint32_t dtype, int64_t kv_heads,
                        int64_t head_dim) {
  if (!is_cache(keys, dtype, kv_heads, cached_key_width(dtype, head_dim))) return {};
  return {tensor_bytes(keys), nullptr, keys.shape[1]};
}

KeyValueCache key_value_cache(const colibri_tensor& keys, const colibri_tensor& values,
                              uint32_t dtype, int64_t kv_heads, int64_t head_dim) {
  KeyValueCache cache = key_cache(keys, dtype, kv_heads, head_dim);
  if (!is_cache(values, dtype, kv_heads, cached_value_width(dtype, head_dim)) ||
      values.shape[1] != cache.blocks)
    return {};
  if (cache.keys != nullptr) cache.values = tensor_bytes(values);
  return cache;
}

}  // namespace colibri::cpu
