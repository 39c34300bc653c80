// SPDX-License-Identifier: Apache-2.0
// ModelSpec: what the engine needs to know of a model. Hyperparameters are values here and tensors
// are bound: every shape has been checked against them, so whoever reads a spec checks nothing
// again. Architecture documents only meet the engine through it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/model/weight.h"

namespace colibri::model {

// down(act(gate(x)) * up(x)): an expert, the shared expert, or the ffn of a layer without experts.
struct FfnSpec {
  int64_t inner = 0;
  Weight gate, up;            // [inner, hidden]
  Weight down;                // [hidden, inner]
  Weight gate_bias, up_bias;  // [inner], or absent
  Weight down_bias;           // [hidden], or absent

  std::vector<const Weight*> weights() const;  // all of the above, absent ones too
};

struct LayerSpec {
  int64_t window = 0;     // keys a query sees, itself included; 0 = all
  Weight attention_norm;  // [hidden]

  // AttentionKind::kGqa
  Weight q;                       // [heads * head_dim, hidden]
  Weight k, v;                    // [kv_heads * head_dim, hidden]
  Weight q_bias, k_bias, v_bias;  // [rows of q, k, v], or absent
  Weight q_norm, k_norm;          // QkNorm::kHead: [head_dim]; kFull: [rows of q, k]; else absent
  Weight sinks;                   // [heads], or absent

  // AttentionKind::kMla
  Weight q_down, q_down_norm;    // [q_latent, hidden], [q_latent]; absent if q_latent is 0
  Weight q_down_bias;            // [q_latent], or absent
  Weight q_up;                   // [heads * head_dim, q_latent or hidden]; a head is [nope | rope]
  Weight kv_down, kv_down_norm;  // [latent + rope.dims, hidden], [latent]
  Weight kv_down_bias;           // [latent + rope.dims], or absent
  Weight
      k_absorb;  // [heads * latent, head_dim - rope.dims]: per head the key projection transposed
  Weight v_up;   // [heads * value_dim, latent]

  Weight o;       // [hidden, heads * value_dim]
  Weight o_bias;  // [hidden], or absent

  Weight ffn_norm;  // [hidden]
  FfnSpec dense;    // of a layer without experts; else absent

  std::vector<FfnSpec> experts;  // empty = the layer has none
  Weight router;                 // [experts, hidden]
  Weight router_bias;            // [experts] on the logits, or absent
  Weight select_bias;            // [experts] on the scores for the choice only, or absent
  FfnSpec shared;                // runs for every token beside the chosen ones, or absent
  Weight shared_gate;  // [1, hidden]: sigmoid(gate * x) weighs the shared expert; or absent

  bool routed() const { return !experts.empty(); }
  // All but those of the experts, absent ones too: what every token touches.
  std::vector<const Weight*> weights() const;
};

enum class AttentionKind { kGqa, kMla };
enum class QkNorm { kNone, kHead, kFull };

struct RopeSpec {
  uint32_t style = COLIBRI_ROPE_HALF;  // COLIBRI_ROPE_*
  int64_t dims = 0;                    // rotated elements of each head, even
  double theta = 0;                    // base of the frequencies: theta^(-2i/dims)
  std::vector<float> frequencies;      // [dims / 2] radians per position, scaling applied
  float magnitude = 1;                 // on every cosine and sine (YaRN's attention factor)
};

struct RouterSpec {
  uint32_t score = COLIBRI_SCORE_SOFTMAX;
  bool renormalize = false;             // the chosen experts' scores are divided by their sum
  int64_t groups = 0, keep_groups = 0;  // 0 = no groups
  uint32_t group_rule = 0;              // COLIBRI_GROUP_RULE_*
  uint32_t group_mask = 0;              // COLIBRI_GROUP_MASK_*
  float scale = 1;                      // on the chosen scores
};

struct ModelSpec {
  std::string architecture;  // metadata.name of its document

  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int64_t max_tokens = 0;     // the longest sequence the model was made for
  float eps = 0;              // of every norm,
  float latent_eps = 0;       // but those of the latents of kMla
  float embedding_scale = 1;  // on the rows of the embedding
  float residual_scale = 1;   // on what attention and ffn add to the residual
  float logits_scale = 1;     // on the logits

  AttentionKind attention = AttentionKind::kGqa;
  int64_t heads = 0, kv_heads = 0;   // kMla: one, the latent
  int64_t head_dim = 0;              // of queries and keys
  int64_t value_dim = 0;             // of values; head_dim for kGqa
  int64_t latent = 0, q_latent = 0;  // kMla: width of the cached latent and of the query's
  QkNorm qk_norm = QkNorm::kNone;
  float attention_scale = 0;  // on the dot product of query and key
  float attention_clamp = 0;  // kGqa: q and k, normed, and v are at most so far from 0; 0 = not
  RopeSpec rope;

  uint32_t activation = COLIBRI_ACTIVATION_SILU;
  float ffn_clamp = 0, ffn_alpha = 0, ffn_up_offset = 0;  // as the kernel attributes; 0 = not

  int64_t experts = 0, top_k = 0;                               // 0 = no layer has experts
  int64_t expert_inner = 0, shared_inner = 0, dense_inner = 0;  // 0 = the model has no such ffn
  RouterSpec router;

  bool tied = false;    // the head is the embedding: the same tensor bound twice
  Weight embedding;     // [vocabulary, hidden]
  Weight head;          // [vocabulary, hidden]
  Weight final_norm;    // [hidden]
  Weight rope_factors;  // [rope.dims / 2], applied to the frequencies already; or absent
  std::vector<LayerSpec> layers;

  std::vector<int32_t>
      eos;           // every id that ends a sequence, ascending; empty = the checkpoint names none
  int32_t bos = -1;  // -1 = none

  int64_t parameters() const;  // elements of all bound tensors, a tied head counted once
  int64_t active_parameters()
      const;  // those one token touches: top_k experts a layer instead of all
};

}  // namespace colibri::model
