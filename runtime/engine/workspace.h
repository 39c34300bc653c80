// SPDX-License-Identifier: Apache-2.0
// The rows that flow between the operators of one pass, carved from one block of memory.
#pragma once

#include <cstdint>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/engine/layers.h"
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
  Rows q, k, v;
  Rows attended;  // [rows, heads * head_dim]
  Rows attended_prepared;
  Rows attention_out;           // [rows, hidden]
  Rows inner;                   // [product rows, expert_inner] f32
  Rows inner_prepared;          // the same memory as q8_32
  Rows expert_out;              // [product rows, hidden]
  int32_t* position = nullptr;  // [rows]
  int32_t* chosen = nullptr;    // [rows, top_k] experts
  float* score = nullptr;       // [rows, top_k]

 private:
  // Gives out memory, or with a null base only counts it.
  uint64_t carve(const model::ModelSpec& spec, int64_t max_rows, std::byte* base);
};

}  // namespace colibri::engine
