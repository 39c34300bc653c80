// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "runtime/base/portable_math.h"

namespace colibri::engine {

Result<SamplerChain> SamplerChain::create(const plugin::Registry& registry,
                                          const std::vector<config::PluginChoice>& choices,
                                          uint32_t vocabulary) {
  SamplerChain chain;
  for (const config::PluginChoice& choice : choices) {
    Link link;
    COLIBRI_ASSIGN(auto found, registry.find("colibri.sampler/1", choice.plugin));
    link.table = found->interface<colibri_sampler_1>("colibri.sampler/1");
    COLIBRI_ASSIGN(link.instance, plugin::Instance::create(std::move(found), choice.options,
                                                           choice.key + ".options"));
    const colibri_host* host = link.instance->host();
    const uint64_t bytes = std::max<uint64_t>(link.table->state_bytes(host, vocabulary), 1);
    const std::string what = "sampler " + choice.plugin;
    COLIBRI_ASSIGN(link.state, Memory::allocate(align_up(bytes), "the state of " + what));
    colibri_error error = empty_error();
    const colibri_status code = link.table->create(host, vocabulary, link.state.data(), &error);
    COLIBRI_TRY(from_c(code, error, "creating its state").at(what));
    chain.links_.push_back(std::move(link));
  }
  chain.id_.resize(vocabulary);
  chain.logit_.resize(vocabulary);
  return chain;
}

void SamplerChain::reset(uint64_t seed) {
  for (Link& link : links_) {
    if (link.table->reset != nullptr) link.table->reset(link.state.data());
  }
  random_ = Random(seed);
}

void SamplerChain::accept(int32_t token) {
  for (Link& link : links_) {
    if (link.table->accept != nullptr) link.table->accept(link.state.data(), token);
  }
}

Result<int32_t> SamplerChain::sample(const float* logits) {
  const size_t n = id_.size();
  if (links_.empty()) {
    return static_cast<int32_t>(std::max_element(logits, logits + n) - logits);
  }
  std::iota(id_.begin(), id_.end(), 0);
  std::copy(logits, logits + n, logit_.begin());
  colibri_candidates candidates = {};
  candidates.struct_size = sizeof(candidates);
  candidates.id = id_.data();
  candidates.logit = logit_.data();
  candidates.n = n;
  for (Link& link : links_) {
    const colibri_status code = link.table->apply(link.state.data(), &candidates);
    if (code != COLIBRI_OK) {
      return Status(code, "sampler " + link.instance->plugin().id() + " failed with status " +
                              std::to_string(code));
    }
    COLIBRI_TRY(check(link, candidates));
  }
  return draw(candidates);
}

Status SamplerChain::check(const Link& link, const colibri_candidates& candidates) const {
  const std::string& id = link.instance->plugin().id();
  if (candidates.n == 0) {
    return invalid_argument("sampler " + id + " left no candidate; loosen its options");
  }
  if (candidates.n > id_.size()) {
    return internal_error("sampler " + id + " made more candidates than there are tokens");
  }
  for (size_t i = 0; i < candidates.n; ++i) {
    const bool known = id_[i] >= 0 && static_cast<size_t>(id_[i]) < id_.size();
    if (known && std::isfinite(logit_[i])) continue;
    return internal_error("sampler " + id + " left id " + std::to_string(id_[i]) + " with logit " +
                          std::to_string(logit_[i]));
  }
  return {};
}

int32_t SamplerChain::draw(const colibri_candidates& candidates) {
  const float most = *std::max_element(candidates.logit, candidates.logit + candidates.n);
  double sum = 0;
  for (size_t i = 0; i < candidates.n; ++i) {
    // The logit is not needed any more: its place keeps the weight.
    candidates.logit[i] = portable_exp(candidates.logit[i] - most);
    sum += candidates.logit[i];
  }
  const double point = random_.next() * sum;
  double passed = 0;
  for (size_t i = 0; i < candidates.n; ++i) {
    passed += candidates.logit[i];
    if (passed > point) return candidates.id[i];
  }
  // Rounding can leave the point at the sum itself; weights of 0 stand for no token.
  size_t last = candidates.n - 1;
  while (last > 0 && candidates.logit[last] == 0) --last;
  return candidates.id[last];
}

}  // namespace colibri::engine
