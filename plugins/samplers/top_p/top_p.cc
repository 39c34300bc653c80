// SPDX-License-Identifier: Apache-2.0
// The sampler "top_p": the smallest set of most probable candidates whose mass reaches p (Holtzman
// et al. 2020, arXiv:1904.09751, section 3.1).
#include "colibri/sampler.h"
#include "plugins/common/entry.h"
#include "plugins/common/options.h"
#include "plugins/samplers/common/candidate_list.h"
#include "runtime/base/guard.h"

namespace colibri::samplers {
namespace {

// Behind it: room for the keys of the whole vocabulary.
struct alignas(8) State {
  double p;
  float (*exp)(float);
  Key* keys() { return reinterpret_cast<Key*>(this + 1); }
};

uint64_t state_bytes(const colibri_host*, uint32_t vocabulary) {
  return sizeof(State) + uint64_t{vocabulary} * sizeof(Key);
}

colibri_status create(const colibri_host* host, uint32_t, void* memory, colibri_error* error) {
  return guard(error, [&]() -> Status {
    auto* state = static_cast<State*>(memory);
    COLIBRI_ASSIGN(state->p, plugin::float_option(host, "p"));
    state->exp = host->math->exp;
    return {};
  });
}

// Masses are relative to that of the best candidate and summed in double, one after another.
colibri_status apply(void* memory, colibri_candidates* list) {
  auto* state = static_cast<State*>(memory);
  if (state->p >= 1 || list->n == 0) return COLIBRI_OK;
  const float best = max_logit(*list);
  const auto mass = [&](float logit) { return double{state->exp(logit - best)}; };
  double total = 0;
  for (size_t i = 0; i < list->n; ++i) total += mass(list->logit[i]);
  SortedPrefix order(*list, state->keys());
  size_t count = 0;
  for (double sum = 0; count < list->n && (count == 0 || sum < state->p * total); ++count) {
    sum += mass(logit_of(order.at(count)));
  }
  order.keep(count, *list);
  return COLIBRI_OK;
}

const colibri_sampler_1 kTable = {
    sizeof(colibri_sampler_1), state_bytes, create, nullptr, apply, nullptr};

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("top_p", "0.1.0");

}  // namespace
}  // namespace colibri::samplers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::samplers::kPlugin;
}
