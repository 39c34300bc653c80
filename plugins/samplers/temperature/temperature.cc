// SPDX-License-Identifier: Apache-2.0
// The sampler "temperature": logit / value.
#include <algorithm>
#include <cfloat>

#include "colibri/sampler.h"
#include "plugins/common/entry.h"
#include "plugins/common/options.h"
#include "runtime/base/guard.h"

namespace colibri::samplers {
namespace {

struct State {
  float value;
};

uint64_t state_bytes(const colibri_host*, uint32_t) {
  return sizeof(State);
}

colibri_status create(const colibri_host* host, uint32_t, void* state, colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_ASSIGN(const double value, plugin::float_option(host, "value"));
    static_cast<State*>(state)->value = static_cast<float>(value);
    return {};
  });
}

colibri_status apply(void* state, colibri_candidates* list) {
  const float value = static_cast<State*>(state)->value;
  for (size_t i = 0; i < list->n; ++i) {
    list->logit[i] = std::clamp(list->logit[i] / value, -FLT_MAX, FLT_MAX);
  }
  if (list->sorted == 0) return COLIBRI_OK;
  // Division keeps the order, but may round different logits to one: their ids then ascend.
  for (size_t begin = 0; begin < list->n;) {
    size_t end = begin + 1;
    while (end < list->n && list->logit[end] == list->logit[begin]) ++end;
    std::sort(list->id + begin, list->id + end);
    begin = end;
  }
  return COLIBRI_OK;
}

const colibri_sampler_1 kTable = {
    sizeof(colibri_sampler_1), state_bytes, create, nullptr, apply, nullptr};

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("temperature", "0.1.0");

}  // namespace
}  // namespace colibri::samplers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::samplers::kPlugin;
}
