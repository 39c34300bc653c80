// SPDX-License-Identifier: Apache-2.0
// Operators and weights of attention: grouped queries, and multi-head latent attention.
#include <string>

#include "runtime/engine/layer_planner.h"

namespace colibri::engine {

LayerPlanner::Made LayerPlanner::rope(const char* use, int64_t heads, int64_t head_dim,
                                      int64_t first) {
  if (spec_.rope.dims == 0) return static_cast<const Operator*>(nullptr);
  auto a = attributes<colibri_rope_attributes>();
  a.style = spec_.rope.style;
  a.heads = heads;
  a.head_dim = head_dim;
  a.dims = spec_.rope.dims;
  a.first = first;
  return operators_.add(use, {COLIBRI_OP_ROPE, a, {}, max_rows_});
}

Status LayerPlanner::plan_attention(const model::LayerSpec& spec, Layer& layer) {
  COLIBRI_ASSIGN(layer.attention_norm, norm("attention.norm", spec.attention_norm, max_rows_));
  if (spec_.attention == model::AttentionKind::kMla) {
    COLIBRI_TRY(plan_mla(spec, layer));
  } else {
    COLIBRI_TRY(plan_gqa(spec, layer));
  }
  COLIBRI_ASSIGN(layer.o, linear("attention.o", spec.o, spec.o_bias));
  if (prepared(*layer.o.weight)) {
    COLIBRI_ASSIGN(layer.quantize_attention_output, quantize("attention.output", max_rows_));
  }
  COLIBRI_ASSIGN(layer.add, combine("add", 1));
  return {};
}

Status LayerPlanner::plan_gqa(const model::LayerSpec& spec, Layer& layer) {
  GqaAttention& made = layer.gqa.emplace();
  const float clamp = spec_.attention_clamp;
  const bool normed = spec_.qk_norm != model::QkNorm::kNone;  // then what is normed is clamped
  const auto product = [&](const char* use, const model::Weight& weight, const model::Weight& bias,
                           float limit) {
    return linear(use, weight, bias, COLIBRI_ACTIVATION_NONE, limit);
  };
  COLIBRI_ASSIGN(made.q, product("attention.q", spec.q, spec.q_bias, normed ? 0 : clamp));
  COLIBRI_ASSIGN(made.k, product("attention.k", spec.k, spec.k_bias, normed ? 0 : clamp));
  COLIBRI_ASSIGN(made.v, product("attention.v", spec.v, spec.v_bias, clamp));
  if (prepared(*made.q.weight) || prepared(*made.k.weight) || prepared(*made.v.weight)) {
    COLIBRI_ASSIGN(layer.quantize_attention_input, quantize("attention.input", max_rows_));
  }
  if (normed) {
    // Of every head, or of all heads as one row.
    const bool per_head = spec_.qk_norm == model::QkNorm::kHead;
    COLIBRI_ASSIGN(made.q_norm, norm("attention.q_norm", spec.q_norm,
                                     max_rows_ * (per_head ? spec_.heads : 1), clamp));
    COLIBRI_ASSIGN(made.k_norm, norm("attention.k_norm", spec.k_norm,
                                     max_rows_ * (per_head ? spec_.kv_heads : 1), clamp));
  }
  COLIBRI_ASSIGN(made.rope_q, rope("attention.rope_q", spec_.heads, spec_.head_dim, 0));
  COLIBRI_ASSIGN(made.rope_k, rope("attention.rope_k", spec_.kv_heads, spec_.head_dim, 0));

  auto write = attributes<colibri_kv_write_attributes>();
  write.cache_dtype = kv_;
  write.kv_heads = spec_.kv_heads;
  write.head_dim = spec_.head_dim;
  COLIBRI_ASSIGN(made.kv_write,
                 operators_.add("attention.kv_write", {COLIBRI_OP_KV_WRITE, write, {}, max_rows_}));
  made.sinks = place_vector(spec.sinks);
  auto attention = attributes<colibri_attention_attributes>();
  attention.cache_dtype = kv_;
  attention.heads = spec_.heads;
  attention.kv_heads = spec_.kv_heads;
  attention.head_dim = spec_.head_dim;
  attention.window = spec.window;
  attention.scale = spec_.attention_scale;
  attention.sinks = spec.sinks ? 1 : 0;
  COLIBRI_ASSIGN(made.attention,
                 operators_.add("attention", {COLIBRI_OP_ATTENTION, attention, {}, max_rows_}));
  return {};
}

Status LayerPlanner::plan_mla(const model::LayerSpec& spec, Layer& layer) {
  MlaAttention& made = layer.mla.emplace();
  const int64_t key_dim = spec_.latent + spec_.rope.dims;
  bool prepared_input = false;
  if (spec.q_down) {
    COLIBRI_ASSIGN(made.q_down, linear("attention.q_down", spec.q_down, spec.q_down_bias));
    COLIBRI_ASSIGN(made.q_down_norm, norm("attention.q_down_norm", spec.q_down_norm, max_rows_));
    prepared_input = prepared(*made.q_down.weight);
  }
  COLIBRI_ASSIGN(made.q_up, linear("attention.q_up", spec.q_up, {}));
  if (prepared(*made.q_up.weight)) {
    if (spec.q_down) {
      COLIBRI_ASSIGN(made.quantize_q_latent, quantize("attention.q_latent", max_rows_));
    } else {
      prepared_input = true;
    }
  }
  COLIBRI_ASSIGN(made.kv_down, linear("attention.kv_down", spec.kv_down, spec.kv_down_bias));
  COLIBRI_ASSIGN(made.kv_down_norm, norm("attention.kv_down_norm", spec.kv_down_norm, max_rows_));
  if (prepared_input || prepared(*made.kv_down.weight)) {
    COLIBRI_ASSIGN(layer.quantize_attention_input, quantize("attention.input", max_rows_));
  }
  COLIBRI_ASSIGN(made.rope_q, rope("attention.rope_q", spec_.heads, spec_.head_dim,
                                   spec_.head_dim - spec_.rope.dims));
  COLIBRI_ASSIGN(made.rope_k, rope("attention.rope_k", 1, key_dim, spec_.latent));

  auto write = attributes<colibri_kv_write_attributes>();
  write.cache_dtype = kv_;
  write.kv_heads = 1;
  write.head_dim = key_dim;
  write.keys_only = 1;
  COLIBRI_ASSIGN(made.kv_write,
                 operators_.add("attention.kv_write", {COLIBRI_OP_KV_WRITE, write, {}, max_rows_}));
  COLIBRI_ASSIGN(made.k_absorb, head_linear("attention.k_absorb", spec.k_absorb));
  auto attention = attributes<colibri_mla_attention_attributes>();
  attention.cache_dtype = kv_;
  attention.heads = spec_.heads;
  attention.latent = spec_.latent;
  attention.rope_dims = spec_.rope.dims;
  attention.scale = spec_.attention_scale;
  COLIBRI_ASSIGN(made.attention,
                 operators_.add("attention", {COLIBRI_OP_MLA_ATTENTION, attention, {}, max_rows_}));
  COLIBRI_ASSIGN(made.v_up, head_linear("attention.v_up", spec.v_up));
  return {};
}

}  // namespace colibri::engine
