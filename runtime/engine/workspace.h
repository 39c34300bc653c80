// SPDX-License-Identifier: Apache-2.0
// The rows that flow between the operators of one pass, carved from one block of memory.
#pragma once

#include <cstdint>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/engine/rows.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

struct Workspace {
  // For passes of up to max_rows rows.
  static uint64_t bytes(const model::ModelSpec& spec, int64_t max_rows);
  static Result<Workspace> create(const model::ModelSpec& spec, int64_t max_rows);

  Memory memory;
  Rows residual;         // [rows, hidden]
  Rows normed;           // [rows, hidden]
  Rows normed_prepared;  // the same as q8_32
  Rows q;                // [rows, heads * head_dim]
  Rows attended;         // [rows, heads * value_dim]
  Rows attended_prepared;
  Rows branch;                 // [rows, hidden]: what attention or a dense ffn adds
  std::byte* inner = nullptr;  // [product rows, inner] of any ffn, f32 or q8_32
  Rows expert_out;             // [product rows, hidden]
  int32_t *ids = nullptr, *position = nullptr, *sequence = nullptr;  // [rows]
  // Of the rows whose logits are wanted: which they are, and the same of them.
  int32_t *wanted = nullptr, *wanted_position = nullptr, *wanted_sequence = nullptr;
  Rows logits;                     // [rows, experts] of the router
  int32_t* chosen = nullptr;       // [rows, top_k] experts
  float* score = nullptr;          // [rows, top_k]
  float* shared_weight = nullptr;  // [rows]

  // Grouped queries
  Rows k, v;  // [rows, kv_heads * head_dim]

  // Latent attention
  Rows q_latent;  // [rows, q_latent]
  Rows q_latent_prepared;
  Rows kv;                             // [rows, latent + rope.dims]
  Rows absorbed, mixed;                // [rows * heads, latent]: queries, values
  std::byte* head_prepared = nullptr;  // [rows * heads, latent or head_dim] as q8_32
  int64_t* head_begin = nullptr;       // [heads + 1]: groups of a product of each head
  int32_t* head_row = nullptr;         // [heads, rows]: row * heads + head

 private:
  // Gives out memory, or with a null base only counts it.
  uint64_t carve(const model::ModelSpec& spec, int64_t max_rows, std::byte* base);
};

}  // namespace colibri::engine
