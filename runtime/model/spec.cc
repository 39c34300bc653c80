// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/spec.h"

namespace colibri::model {

const char* role_name(Role role) {
  static constexpr const char* kNames[kRoles] = {
      "embedding",   "head",     "final_norm", "rope_factors", "attention_norm", "q",
      "k",           "v",        "o",          "q_bias",       "k_bias",         "v_bias",
      "o_bias",      "q_norm",   "k_norm",     "sinks",        "q_down",         "q_down_bias",
      "q_down_norm", "q_up",     "kv_down",    "kv_down_bias", "kv_down_norm",   "k_absorb",
      "v_up",        "ffn_norm", "router",     "router_bias",  "select_bias",    "shared_gate",
      "gate",        "up",       "down",       "gate_bias",    "up_bias",        "down_bias"};
  return kNames[static_cast<int>(role)];
}

std::vector<const Weight*> FfnSpec::weights() const {
  return {&gate, &up, &down, &gate_bias, &up_bias, &down_bias};
}

std::vector<const Weight*> LayerSpec::weights() const {
  std::vector<const Weight*> all = {&attention_norm, &q,          &k,       &v,
                                    &q_bias,         &k_bias,     &v_bias,  &q_norm,
                                    &k_norm,         &sinks,      &q_down,  &q_down_bias,
                                    &q_down_norm,    &q_up,       &kv_down, &kv_down_bias,
                                    &kv_down_norm,   &k_absorb,   &v_up,    &o,
                                    &o_bias,         &ffn_norm,   &router,  &router_bias,
                                    &select_bias,    &shared_gate};
  for (const FfnSpec* ffn : {&dense, &shared}) {
    for (const Weight* weight : ffn->weights()) all.push_back(weight);
  }
  return all;
}

namespace {

int64_t count(const std::vector<const Weight*>& weights) {
  int64_t sum = 0;
  for (const Weight* weight : weights) sum += *weight ? weight->elements() : 0;
  return sum;
}

int64_t count(const ModelSpec& spec, int64_t experts) {
  int64_t sum = count({&spec.embedding, &spec.final_norm});
  if (!spec.tied) sum += count({&spec.head});
  for (const LayerSpec& layer : spec.layers) {
    sum += count(layer.weights());
    if (layer.routed()) sum += experts * count(layer.experts.front().weights());
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
