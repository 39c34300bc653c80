// SPDX-License-Identifier: Apache-2.0
// The layers of a model as operators and placed weights: what the forward pass walks through.
// Operators and weights that a model does not need are null.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/codec_facts.h"
#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/operator.h"
#include "runtime/engine/rows.h"
#include "runtime/experts/tier.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

// Rows [first_row, first_row + tensor.shape[0]) of a weight, and where they lie: `offset` bytes
// into the dense memory, or into an expert's bundle.
struct Placed {
  const model::Weight* weight = nullptr;
  int64_t first_row = 0;
  Packing packing;
  uint64_t offset = 0;
  colibri_tensor tensor = {};  // as its operator reads it; the buffer is set when it is loaded

  int64_t rows() const { return tensor.rank == 1 ? 1 : tensor.shape[0]; }
};
// Whether its product takes activations as q8_32.
inline bool prepared(const Placed& placed) {
  return has_integer_product(placed.tensor.dtype);
}

struct Norm {
  const Operator* op = nullptr;
  const Placed* weight = nullptr;
};

// weight * x + bias
struct Linear {
  const Operator* op = nullptr;
  const Placed* weight = nullptr;
  const Placed* bias = nullptr;
};

// A product of each head with a matrix of its own.
struct HeadLinear {
  const Operator* quantize_input = nullptr;
  const Operator* op = nullptr;
  std::vector<const Placed*> weights;  // [heads]
};

struct GqaAttention {
  Linear q, k, v;
  Norm q_norm, k_norm;
  const Operator *rope_q = nullptr, *rope_k = nullptr;
  const Operator* kv_write = nullptr;
  const Operator* attention = nullptr;
  const Placed* sinks = nullptr;
};

struct MlaAttention {
  Linear q_down;
  Norm q_down_norm;
  const Operator* quantize_q_latent = nullptr;
  Linear q_up;
  Linear kv_down;
  Norm kv_down_norm;
  const Operator *rope_q = nullptr, *rope_k = nullptr;
  const Operator* kv_write = nullptr;
  HeadLinear k_absorb;
  const Operator* attention = nullptr;
  HeadLinear v_up;
};

// down(act(gate(x)) * up(x)). Of experts: the same packing and the same offsets in each bundle;
// `weight` is expert 0's.
struct Ffn {
  const Operator* gate_up = nullptr;
  const Operator* down_op = nullptr;
  const Placed *gate = nullptr, *up = nullptr, *down = nullptr;
  const Placed *gate_bias = nullptr, *up_bias = nullptr, *down_bias = nullptr;
};

// The ffn of a layer with experts.
struct RoutedFfn {
  uint32_t index = 0;  // of the layer among those with experts
  experts::ExpertPlace place = experts::ExpertPlace::kHost;
  uint32_t store_layer = 0;  // the store's number for it; none if it is on a device only
  Linear router;             // to logits
  const Operator* choose = nullptr;
  const Placed* select_bias = nullptr;
  Ffn expert;
  Ffn tier_expert;  // the same on a device, if they are in both places
  uint64_t bundle_bytes = 0;
  const Operator* combine = nullptr;  // of the experts' rows with the residual
  Linear shared_gate;
};

struct Layer {
  Norm attention_norm;
  const Operator* quantize_attention_input = nullptr;
  std::optional<GqaAttention> gqa;  // this
  std::optional<MlaAttention> mla;  // or this
  const Operator* quantize_attention_output = nullptr;
  Linear o;
  const Operator* add = nullptr;  // of one row to the residual
  Norm ffn_norm;
  const Operator* quantize_ffn_input = nullptr;
  std::optional<RoutedFfn> routed;
  Ffn always;  // the shared expert, or the ffn of a layer without experts
};

struct Layers {
  const Operator* embed = nullptr;
  std::vector<Layer> layers;
  Norm final_norm;
  const Operator* quantize_head_input = nullptr;
  Linear head;
  const Placed* embedding = nullptr;  // tied: the head's

  // All weights outside of experts, each once, in the order of their memory; and those of one
  // expert of each layer. Pointers into these stay good when Layers is moved.
  std::deque<Placed> dense, bundled;
  uint64_t dense_bytes = 0;
  uint64_t bundle_bytes = 0;  // of the largest expert
  uint32_t routed_layers = 0;
  uint32_t store_layers = 0;  // of those, with experts in the store
};

// Chooses an operator for everything a layer does and places all weights. max_rows: rows of one
// forward pass; kv: codec of the key-value cache; places: of the experts, by layer among those with
// experts. [setup]
Result<Layers> plan_layers(const model::ModelSpec& spec, const config::Quantize& quantize,
                           uint32_t kv, int64_t max_rows,
                           std::span<const experts::ExpertPlace> places, OperatorSet& operators);

}  // namespace colibri::engine
