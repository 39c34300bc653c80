// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/spec.h"

#include <initializer_list>

namespace colibri::model {

const char* role_name(Role role) {
  static constexpr const char* kNames[kRoles] = {"embedding",
                                                 "head",
                                                 "final_norm",
                                                 "rope_factors",
                                                 "attention_norm",
                                                 "q",
                                                 "k",
                                                 "v",
                                                 "o",
                                                 "q_bias",
                                                 "k_bias",
                                                 "v_bias",
                                                 "o_bias",
                                                 "q_norm",
                                                 "k_norm",
                                                 "sinks",
                                                 "q_down",
                                                 "q_down_norm",
                                                 "q_up",
                                                 "kv_down",
                                                 "kv_down_norm",
                                                 "k_absorb",
                                                 "v_up",
                                                 "ffn_norm",
                                                 "router",
                                                 "router_bias",
                                                 "select_bias",
                                                 "shared_gate",
                                                 "gate",
                                                 "up",
                                                 "down",
                                                 "gate_bias",
                                                 "up_bias",
                                                 "down_bias"};
  return kNames[static_cast<int>(role)];
}

namespace {

int64_t count(std::initializer_list<const Weight*> weights) {
  int64_t sum = 0;
  for (const Weight* weight : weights) sum += *weight ? weight->elements() : 0;
  return sum;
}

int64_t count(const FfnSpec& ffn) {
  return count({&ffn.gate, &ffn.up, &ffn.down, &ffn.gate_bias, &ffn.up_bias, &ffn.down_bias});
}

// All that every token touches, so all but the experts.
int64_t count_shared(const LayerSpec& layer) {
  return count({&layer.attention_norm,
                &layer.q,
                &layer.k,
                &layer.v,
                &layer.q_bias,
                &layer.k_bias,
                &layer.v_bias,
                &layer.q_norm,
                &layer.k_norm,
                &layer.sinks,
                &layer.q_down,
                &layer.q_down_norm,
                &layer.q_up,
                &layer.kv_down,
                &layer.kv_down_norm,
                &layer.k_absorb,
                &layer.v_up,
                &layer.o,
                &layer.o_bias,
                &layer.ffn_norm,
                &layer.router,
                &layer.router_bias,
                &layer.select_bias,
                &layer.shared_gate}) +
         count(layer.dense) + count(layer.shared);
}

int64_t count(const ModelSpec& spec, int64_t experts) {
  int64_t sum = count({&spec.embedding, &spec.final_norm});
  if (!spec.tied) sum += count({&spec.head});
  for (const LayerSpec& layer : spec.layers) {
    sum += count_shared(layer);
    if (layer.routed()) sum += experts * count(layer.experts.front());
  }
  return sum;
}

}  // namespace

int64_t ModelSpec::parameters() const {
  return count(*this, experts);
}

int64_t ModelSpec::active_parameters() const {
  return count(*this, top_k);
}

}  // namespace colibri::model
