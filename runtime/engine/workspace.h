// SPDX-License-Identifier: Apache-2.0
// The rows that flow between the operators of one pass, and the lists that say what becomes of them.
#pragma once

#include <cstdint>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/engine/block.h"
#include "runtime/engine/rows.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

// Numbers that the host and the kernels see: on the CPU one list, on a device one on each side.
template <typename T>
struct SharedList {
  T* host = nullptr;
  T* there = nullptr;  // where kernels find it
};

// Where a pass is computed: on the CPU, on a device, or on a device all but the experts.
enum class PassPlace { kCpu, kDevice, kDeviceButExperts };

struct Workspace {
  struct Bytes {
    uint64_t rows = 0;  // where the model is computed
    uint64_t host = 0;  // of the host's, in any case
  };
  // For passes of up to max_rows rows.
  static Bytes bytes(const model::ModelSpec& spec, int64_t max_rows, PassPlace place);
  // device: null on the CPU.
  static Result<Workspace> create(const model::ModelSpec& spec, int64_t max_rows, PassPlace place,
                                  const plugin::Device* device);

  Block rows;
  Memory host;

  Rows residual;         // [rows, hidden]
  Rows normed;           // [rows, hidden]
  Rows normed_prepared;  // the same as q8_32
  Rows q;                // [rows, heads * head_dim]
  Rows attended;         // [rows, heads * value_dim]
  Rows attended_prepared;
  Rows branch;              // [rows, hidden]: what attention or a dense ffn adds
  uint64_t inner = 0;       // where in rows: [product rows, inner] of any ffn, f32 or q8_32
  Rows expert_out;          // [product rows, hidden]
  SharedList<int32_t> ids;  // [rows]
  int32_t *position = nullptr, *sequence = nullptr;  // [rows]
  // Of the rows whose logits are wanted: which they are, and the same of them.
  SharedList<int32_t> wanted;
  int32_t *wanted_position = nullptr, *wanted_sequence = nullptr;
  // What a router makes of rows.
  struct Choice {
    Rows logits;                 // [rows, experts]
    SharedList<int32_t> chosen;  // [rows, top_k] experts, the highest score first
    Rows score;                  // [rows, top_k]
  };
  Choice choice;
  Rows shared_weight;  // [rows, 1]
  Rows head_logits;    // [head_rows, vocabulary]; on a device only
  // Of the next layer's router before this layer is done; of passes of few rows only.
  static constexpr int64_t kGuessRows = 4;
  Rows guess_normed, guess_prepared;  // [kGuessRows, hidden]
  Choice guess;

  // Of experts on the CPU beside a device, in the host's memory.
  Rows host_normed, host_normed_prepared;  // [rows, hidden]
  std::byte* host_inner = nullptr;         // [product rows, inner], f32 or q8_32
  Rows host_expert_out;                    // [product rows, hidden]

  // On a device only: where the lists of the experts' product rows are copied to (Routing).
  int32_t *token_of_row = nullptr, *row_of_pair = nullptr;  // [product rows]

  // Grouped queries
  Rows k, v;  // [rows, kv_heads * head_dim]

  // Latent attention
  Rows q_latent;  // [rows, q_latent]
  Rows q_latent_prepared;
  Rows kv;                        // [rows, latent + rope.dims]
  Rows absorbed, mixed;           // [rows * heads, latent]: queries, values
  uint64_t head_prepared = 0;     // where in rows: [rows * heads, latent or head_dim] as q8_32
  int64_t* head_begin = nullptr;  // [heads + 1]: groups of a product of each head
  SharedList<int32_t> head_row;   // [heads, rows]: row * heads + head

  // Rows of head_logits.
  static int64_t head_rows(int64_t max_rows) { return max_rows < 16 ? max_rows : 16; }

 private:
  // Gives out memory, or of an empty one only counts it.
  Bytes carve(const model::ModelSpec& spec, int64_t max_rows, PassPlace place);
};

}  // namespace colibri::engine
