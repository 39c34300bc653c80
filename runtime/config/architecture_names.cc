// SPDX-License-Identifier: Apache-2.0
// The names that `dims` and `tensors` of an architecture document may give.
#include "runtime/config/architecture_choices.h"
#include "runtime/config/architecture_schema.h"

namespace colibri::config {
namespace {

constexpr DimensionField kDimensions[] = {
    {.name = "layers", .required = true, .doc = "Layers."},
    {.name = "hidden", .required = true, .doc = "Width of the residual stream."},
    {.name = "vocabulary", .required = true, .doc = "Rows of the embedding."},
    {.name = "max_tokens", .required = true, .doc = "Longest sequence the model was made for."},
    {.name = "heads", .required = true, .doc = "Query heads."},
    {.name = "kv_heads", .counts = true, .doc = "Key and value heads; with `gqa` only."},
    {.name = "head_dim", .required = true, .doc = "Width of a query and key head, rotated part included."},
    {.name = "value_dim", .counts = true, .doc = "Width of a value head; with `mla` only."},
    {.name = "latent", .counts = true, .doc = "Width of the latent of keys and values; with `mla` only."},
    {.name = "q_latent", .nullable = true, .counts = true, .doc = "Width of the latent of queries, with `mla`; null: they have none."},
    {.name = "experts", .counts = true, .doc = "Experts of a layer; 0: none. Needed with `tensors.*.expert`."},
    {.name = "top_k", .counts = true, .doc = "Experts that a token visits. Needed with `tensors.*.expert`."},
    {.name = "expert_inner", .counts = true, .doc = "Inner width of an expert. Needed with `tensors.*.expert`."},
    {.name = "shared_inner", .counts = true, .doc = "Inner width of the shared expert; 0: none. Needed with `tensors.*.shared`."},
    {.name = "dense_inner", .counts = true, .doc = "Inner width of a dense layer's ffn. Needed with `tensors.*.dense`."},
    {.name = "eps", .type = Type::kNumber, .doc = "For `norm.eps`."},
    {.name = "latent_eps", .type = Type::kNumber, .nullable = true, .doc = "For `norm.latent_eps`."},
    {.name = "embedding_scale", .type = Type::kNumber, .doc = "For `embedding.scale`."},
    {.name = "residual_scale", .type = Type::kNumber, .doc = "For `residual_scale`."},
    {.name = "logits_scale", .type = Type::kNumber, .doc = "For `logits.scale`."},
    {.name = "first_dense", .doc = "For `layers.first_dense`."},
    {.name = "moe_every", .doc = "For `layers.moe_every`."},
    {.name = "dense_layers", .type = Type::kIntegers, .doc = "For `layers.dense`."},
    {.name = "qk_norm", .type = Type::kText, .doc = "For `attention.qk_norm`.", .choices = kQkNorms},
    {.name = "attention_scale", .type = Type::kNumber, .doc = "For `attention.scale`."},
    {.name = "attention_mscale", .type = Type::kNumber, .doc = "For `attention.mscale`."},
    {.name = "attention_bias", .type = Type::kBoolean, .doc = "For `when` of biases in attention."},
    {.name = "ffn_bias", .type = Type::kBoolean, .doc = "For `when` of biases in the ffn."},
    {.name = "sliding_window", .nullable = true, .doc = "For `attention.window`; null: none."},
    {.name = "window_layers", .type = Type::kBooleans, .nullable = true, .doc = "For `attention.window_layers`; null: all."},
    {.name = "window_from", .doc = "For `attention.window_from`."},
    {.name = "rope_style", .type = Type::kText, .doc = "For `rope.style`.", .choices = kRopeStyles},
    {.name = "rope_dims", .doc = "For `rope.dims`."},
    {.name = "rope_theta", .type = Type::kNumber, .doc = "For `rope.theta`."},
    {.name = "rope_scaling", .type = Type::kText, .doc = "For `rope.scaling`.", .choices = kRopeScalings},
    {.name = "rope_factor", .type = Type::kNumber, .doc = "For `rope.factor`."},
    {.name = "rope_original_tokens", .type = Type::kNumber, .doc = "For `rope.original_tokens`."},
    {.name = "rope_low_freq_factor", .type = Type::kNumber, .doc = "For `rope.low_freq_factor`."},
    {.name = "rope_high_freq_factor", .type = Type::kNumber, .doc = "For `rope.high_freq_factor`."},
    {.name = "rope_beta_fast", .type = Type::kNumber, .doc = "For `rope.beta_fast`."},
    {.name = "rope_beta_slow", .type = Type::kNumber, .doc = "For `rope.beta_slow`."},
    {.name = "rope_truncate", .type = Type::kBoolean, .doc = "For `rope.truncate`."},
    {.name = "rope_attention_factor", .type = Type::kNumber, .nullable = true, .doc = "For `rope.attention_factor`."},
    {.name = "rope_mscale", .type = Type::kNumber, .nullable = true, .doc = "For `rope.mscale`."},
    {.name = "rope_mscale_all", .type = Type::kNumber, .nullable = true, .doc = "For `rope.mscale_all`."},
    {.name = "ffn_clamp", .type = Type::kNumber, .doc = "For `ffn.clamp`."},
    {.name = "ffn_alpha", .type = Type::kNumber, .doc = "For `ffn.alpha`."},
    {.name = "router_score", .type = Type::kText, .doc = "For `router.score`.", .choices = kRouterScores},
    {.name = "renormalize", .type = Type::kBoolean, .doc = "For `router.renormalize`."},
    {.name = "router_scale", .type = Type::kNumber, .doc = "For `router.scale`."},
    {.name = "groups", .doc = "For `router.groups.count`."},
    {.name = "keep_groups", .doc = "For `router.groups.keep`."},
    {.name = "group_rule", .type = Type::kText, .doc = "For `router.groups.rule`.", .choices = kGroupRules},
    {.name = "group_mask", .type = Type::kText, .doc = "For `router.groups.mask`.", .choices = kGroupMasks},
    {.name = "tied", .type = Type::kBoolean, .doc = "Whether the head is the embedding; for `optional` of the head."},
};

using Scope = TensorTemplate::Scope;
using Need = RoleField::Need;
constexpr RoleField kRoles[] = {
    {"embedding", Scope::kModel, Need::kAlways, "[vocabulary, hidden]"},
    {"head", Scope::kModel, Need::kAlways, "[vocabulary, hidden]"},
    {"final_norm", Scope::kModel, Need::kAlways, "[hidden]"},
    {"rope_factors", Scope::kModel, Need::kOptional, "[rope.dims / 2]: the rotary frequencies are divided by them"},
    {"attention_norm", Scope::kLayer, Need::kAlways, "[hidden]"},
    {"q", Scope::kLayer, Need::kGqa, "[heads * head_dim, hidden]"},
    {"k", Scope::kLayer, Need::kGqa, "[kv_heads * head_dim, hidden]"},
    {"v", Scope::kLayer, Need::kGqa, "[kv_heads * head_dim, hidden]"},
    {"q_bias", Scope::kLayer, Need::kOptionalGqa, "[heads * head_dim]"},
    {"k_bias", Scope::kLayer, Need::kOptionalGqa, "[kv_heads * head_dim]"},
    {"v_bias", Scope::kLayer, Need::kOptionalGqa, "[kv_heads * head_dim]"},
    {"q_norm", Scope::kLayer, Need::kOptionalGqa, "[head_dim], or with qk_norm `full` [heads * head_dim]"},
    {"k_norm", Scope::kLayer, Need::kOptionalGqa, "[head_dim], or with qk_norm `full` [kv_heads * head_dim]"},
    {"sinks", Scope::kLayer, Need::kOptionalGqa, "[heads]: a logit for each head that counts in its softmax and has no value"},
    {"q_down", Scope::kLayer, Need::kOptionalMla, "[q_latent, hidden]; not looked for if q_latent is null"},
    {"q_down_norm", Scope::kLayer, Need::kOptionalMla, "[q_latent]; not looked for if q_latent is null"},
    {"q_up", Scope::kLayer, Need::kMla, "[heads * head_dim, q_latent], or [heads * head_dim, hidden] if q_latent is null"},
    {"kv_down", Scope::kLayer, Need::kMla, "[latent + rope.dims, hidden]"},
    {"kv_down_norm", Scope::kLayer, Need::kMla, "[latent]"},
    {"k_absorb", Scope::kLayer, Need::kMla, "[heads * latent, head_dim - rope.dims]: each head's key projection, transposed"},
    {"v_up", Scope::kLayer, Need::kMla, "[heads * value_dim, latent]"},
    {"o", Scope::kLayer, Need::kAlways, "[hidden, heads * head_dim], with `mla` [hidden, heads * value_dim]"},
    {"o_bias", Scope::kLayer, Need::kOptional, "[hidden]"},
    {"ffn_norm", Scope::kLayer, Need::kAlways, "[hidden]"},
    {"router", Scope::kLayer, Need::kExperts, "[experts, hidden]"},
    {"router_bias", Scope::kLayer, Need::kOptionalExperts, "[experts], added to the logits"},
    {"select_bias", Scope::kLayer, Need::kOptionalExperts, "[experts], added to the scores for the choice only"},
    {"shared_gate", Scope::kLayer, Need::kOptionalShared, "[1, hidden]: sigmoid(shared_gate * x) weighs the shared expert"},
    {"gate", Scope::kDense, Need::kAlways, "[dense_inner, hidden]"},
    {"up", Scope::kDense, Need::kAlways, "[dense_inner, hidden]"},
    {"down", Scope::kDense, Need::kAlways, "[hidden, dense_inner]"},
    {"gate_bias", Scope::kDense, Need::kOptional, "[dense_inner]"},
    {"up_bias", Scope::kDense, Need::kOptional, "[dense_inner]"},
    {"down_bias", Scope::kDense, Need::kOptional, "[hidden]"},
    {"gate", Scope::kShared, Need::kAlways, "[shared_inner, hidden]"},
    {"up", Scope::kShared, Need::kAlways, "[shared_inner, hidden]"},
    {"down", Scope::kShared, Need::kAlways, "[hidden, shared_inner]"},
    {"gate_bias", Scope::kShared, Need::kOptional, "[shared_inner]"},
    {"up_bias", Scope::kShared, Need::kOptional, "[shared_inner]"},
    {"down_bias", Scope::kShared, Need::kOptional, "[hidden]"},
    {"gate", Scope::kExpert, Need::kAlways, "[expert_inner, hidden]"},
    {"up", Scope::kExpert, Need::kAlways, "[expert_inner, hidden]"},
    {"down", Scope::kExpert, Need::kAlways, "[hidden, expert_inner]"},
    {"gate_bias", Scope::kExpert, Need::kOptional, "[expert_inner]"},
    {"up_bias", Scope::kExpert, Need::kOptional, "[expert_inner]"},
    {"down_bias", Scope::kExpert, Need::kOptional, "[hidden]"},
};

}  // namespace

constexpr std::span<const DimensionField> kDimensionFields = kDimensions;
constexpr std::span<const RoleField> kRoleFields = kRoles;

const char* scope_key(Scope scope) {
  switch (scope) {
    case Scope::kModel:
      return "";
    case Scope::kLayer:
      return "layer";
    case Scope::kDense:
      return "dense";
    case Scope::kShared:
      return "shared";
    case Scope::kExpert:
      return "expert";
  }
  return "";
}

}  // namespace colibri::config
