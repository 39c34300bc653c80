// SPDX-License-Identifier: Apache-2.0
// ModelSpec: what the engine needs to know of a model. Hyperparameters are values here and tensors
// are bound: every shape has been checked against them, so whoever reads a spec checks nothing
// again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/model/source.h"

namespace colibri::model {

// What a weight is for. The numbers are used as indices.
enum class Role {
  kEmbedding,
  kHead,
  kFinalNorm,
  kAttentionNorm,
  kQ,
  kK,
  kV,
  kO,
  kFfnNorm,
  kRouter,
  kGate,
  kUp,
  kDown,
};
constexpr int kRoles = 13;
const char* role_name(Role role);  // as the architecture document spells it: "attention_norm"

// A bound tensor: a row-major matrix [rows, cols]; a vector has one row.
struct Weight {
  Role role = Role::kEmbedding;
  const TensorEntry* tensor = nullptr;
  int64_t rows = 0, cols = 0;

  uint32_t codec() const { return tensor->codec; }  // as stored
  int64_t elements() const { return rows * cols; }
  uint64_t bytes() const { return tensor->bytes; }  // as stored
  std::string name() const { return std::string(tensor->name); }
};

struct ExpertSpec {
  Weight gate, up;  // [expert_inner, hidden]
  Weight down;      // [hidden, expert_inner]
};

struct LayerSpec {
  int64_t window = 0;     // keys a query sees, itself included; 0 = all
  Weight attention_norm;  // [hidden]
  Weight q;               // [heads * head_dim, hidden]
  Weight k, v;            // [kv_heads * head_dim, hidden]
  Weight o;               // [hidden, heads * head_dim]
  Weight ffn_norm;        // [hidden]
  Weight router;          // [experts, hidden]
  std::vector<ExpertSpec> experts;
};

struct RopeSpec {
  uint32_t style = COLIBRI_ROPE_HALF;  // COLIBRI_ROPE_*
  int64_t dims = 0;                    // rotated elements of each head, even
  double theta = 0;                    // base of the frequencies: theta^(-2i/dims)
};

struct ModelSpec {
  std::string architecture;  // metadata.name of its document

  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int64_t max_tokens = 0;  // the longest sequence the model was made for
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  int64_t experts = 0, top_k = 0, expert_inner = 0;
  float eps = 0;              // of every norm
  float embedding_scale = 1;  // on the rows of the embedding
  float attention_scale = 0;  // on the dot product of query and key
  uint32_t activation = COLIBRI_ACTIVATION_SILU;
  uint32_t score = COLIBRI_SCORE_SOFTMAX;
  bool renormalize = false;  // the chosen experts' scores are divided by their sum
  RopeSpec rope;

  bool tied = false;  // the head is the embedding: the same tensor bound twice
  Weight embedding;   // [vocabulary, hidden]
  Weight head;        // [vocabulary, hidden]
  Weight final_norm;  // [hidden]
  std::vector<LayerSpec> layers;

  std::vector<int32_t>
      eos;           // every id that ends a sequence, ascending; empty = the checkpoint names none
  int32_t bos = -1;  // -1 = none

  int64_t parameters() const;  // elements of all bound tensors, a tied head counted once
  int64_t active_parameters()
      const;  // those one token touches: top_k experts a layer instead of all
};

}  // namespace colibri::model
