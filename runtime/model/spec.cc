// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/spec.h"

namespace colibri::model {

const char* role_name(Role role) {
  static constexpr const char* kNames[kRoles] = {
      "embedding", "head",     "final_norm", "attention_norm", "q",  "k",   "v",
      "o",         "ffn_norm", "router",     "gate",           "up", "down"};
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
