// SPDX-License-Identifier: Apache-2.0
// The sampling chain: from a row of logits to the next token.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "colibri/sampler.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/random.h"
#include "runtime/plugin/registry.h"

namespace colibri::engine {

// Used by one thread at a time; sample() and accept() allocate nothing.
class SamplerChain {
 public:
  // An empty list of choices is greedy: the highest logit, of equal ones the lowest id.
  static Result<SamplerChain> create(const plugin::Registry& registry,
                                     const std::vector<config::PluginChoice>& choices,
                                     uint32_t vocabulary);

  // Forgets all tokens; the draws of `seed` start anew.
  void reset(uint64_t seed);
  void accept(int32_t token);  // of the prompt or generated, in order
  // logits: [vocabulary], finite. Errors name the plugin: a list left empty, or with an id or logit
  // that cannot be.
  Result<int32_t> sample(const float* logits);

 private:
  struct Link {
    std::unique_ptr<plugin::Instance> instance;
    const colibri_sampler_1* table = nullptr;
    Memory state;
  };
  SamplerChain() = default;
  Status check(const Link& link, const colibri_candidates& candidates) const;
  int32_t draw(const colibri_candidates& candidates);

  std::vector<Link> links_;
  std::vector<int32_t> id_;   // [vocabulary]
  std::vector<float> logit_;  // [vocabulary]
  Random random_{0};
};

}  // namespace colibri::engine
