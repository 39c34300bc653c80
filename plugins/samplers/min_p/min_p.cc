// SPDX-License-Identifier: Apache-2.0
// The sampler "min_p": candidates at least p times as probable as the best one (Nguyen et al. 2024,
// arXiv:2407.01082, section 3).
#include "colibri/sampler.h"
#include "plugins/common/entry.h"
#include "plugins/common/options.h"
#include "plugins/samplers/common/candidate_list.h"
#include "runtime/base/guard.h"

namespace colibri::samplers {
namespace {

struct State {
  float p;
  float (*exp)(float);
};

uint64_t state_bytes(const colibri_host*, uint32_t) {
  return sizeof(State);
}

colibri_status create(const colibri_host* host, uint32_t, void* memory, colibri_error* error) {
  return guard(error, [&]() -> Status {
    auto* state = static_cast<State*>(memory);
    COLIBRI_ASSIGN(const double p, plugin::float_option(host, "p"));
    state->p = static_cast<float>(p);
    state->exp = host->math->exp;
    return {};
  });
}

colibri_status apply(void* memory, colibri_candidates* list) {
  const auto* state = static_cast<State*>(memory);
  if (list->n == 0) return COLIBRI_OK;
  const float best = max_logit(*list);
  size_t kept = 0;
  for (size_t i = 0; i < list->n; ++i) {
    if (state->exp(list->logit[i] - best) < state->p) continue;
    list->id[kept] = list->id[i];
    list->logit[kept] = list->logit[i];
    ++kept;
  }
  list->n = kept;
  return COLIBRI_OK;
}

const colibri_sampler_1 kTable = {
    sizeof(colibri_sampler_1), state_bytes, create, nullptr, apply, nullptr};

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("min_p", "0.1.0");

}  // namespace
}  // namespace colibri::samplers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::samplers::kPlugin;
}
