// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/spec.h"

namespace colibri::model {

const char* role_name(Role role) {
  static constexpr const char* kNames[kRoles] = {
      "embedding",   "head",        "final_norm",  "attention_norm",
      "q",           "k",           "v",           "o",
      "q_bias",      "k_bias",      "v_bias",      "o_bias",
      "q_norm",      "k_norm",      "sinks",       "q_down",
      "q_down_norm", "q_up",        "kv_down",     "kv_down_norm",
      "k_absorb",    "v_up",        "ffn_norm",    "router",
      "router_bias", "select_bias", "shared_gate", "gate",
      "up",          "down",        "gate_bias",   "up_bias",
      "down_bias"};
  return kNames[static_cast<int>(role)];
}

int64_t ModelSpec::parameters() const {
  const int64_t idle = (experts - top_k) * static_cast<int64_t>(layers.size());
  return active_parameters() + idle * 3 * hidden * expert_inner;
}

int64_t ModelSpec::active_parameters() const {
  int64_t sum = embedding.elements() + final_norm.elements();
  if (!tied) sum += head.elements();
  for (const LayerSpec& layer : layers) {
    for (const Weight* weight : {&layer.attention_norm, &layer.q, &layer.k, &layer.v, &layer.o,
                                 &layer.ffn_norm, &layer.router}) {
      sum += weight->elements();
    }
    sum += top_k * 3 * hidden * expert_inner;
  }
  return sum;
}

}  // namespace colibri::model
