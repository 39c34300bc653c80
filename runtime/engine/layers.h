// SPDX-License-Identifier: Apache-2.0
// The layers of a model as operators and placed weights: what the forward pass walks through.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/operator.h"
#include "runtime/model/codecs.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

// A weight and where it lies: `offset` bytes into the dense memory, or into an expert's bundle.
struct Placed {
  const model::Weight* weight = nullptr;
  Packing packing;
  uint64_t offset = 0;
  colibri_tensor tensor = {};  // as its operator reads it; the buffer is set when it is loaded
};

// Operators that are not needed are null: a float product needs no quantised input.
struct Layer {
  const Operator* attention_norm = nullptr;
  const Operator* quantize_attention_input = nullptr;
  const Operator *q = nullptr, *k = nullptr, *v = nullptr;
  const Operator *rope_q = nullptr, *rope_k = nullptr;
  const Operator* kv_write = nullptr;
  const Operator* attention = nullptr;
  const Operator* quantize_attention_output = nullptr;
  const Operator* o = nullptr;
  const Operator* add = nullptr;  // of the attention's output to the residual
  const Operator* ffn_norm = nullptr;
  const Operator* router = nullptr;
  const Operator* quantize_ffn_input = nullptr;
  const Operator* gate_up = nullptr;
  const Operator* down = nullptr;
  const Operator* combine = nullptr;

  Placed attention_norm_weight, q_weight, k_weight, v_weight, o_weight;
  Placed ffn_norm_weight, router_weight;
  // Of every expert: the same packing, the same offsets in its bundle. `weight` is expert 0's.
  Placed gate_weight, up_weight, down_weight;
  uint64_t bundle_bytes = 0;
};

struct Layers {
  const Operator* embed = nullptr;
  std::vector<Layer> layers;
  const Operator* final_norm = nullptr;
  const Operator* quantize_head_input = nullptr;
  const Operator* head = nullptr;

  Placed embedding_weight, final_norm_weight;
  Placed head_weight;  // tied: the embedding's memory
  uint64_t dense_bytes = 0;
  uint64_t bundle_bytes = 0;  // of the largest expert
  // All dense weights, each once, in the order of their memory.
  std::vector<Placed*> dense();
};

// Chooses an operator for everything a layer does and places all weights. max_rows: rows of one
// forward pass; kv: codec of the key-value cache. [setup]
Result<Layers> plan_layers(const model::ModelSpec& spec, const config::Quantize& quantize,
                           uint32_t kv, int64_t max_rows, OperatorSet& operators);

}  // namespace colibri::engine
