// SPDX-License-Identifier: Apache-2.0
// The sampler "top_k": the k best candidates (Fan, Lewis, Dauphin 2018, arXiv:1805.04833,
// section 5.4).
#include "colibri/sampler.h"
#include "plugins/common/entry.h"
#include "plugins/common/options.h"
#include "plugins/samplers/common/candidate_list.h"
#include "runtime/base/guard.h"

namespace colibri::samplers {
namespace {

// Behind it: room for the keys of the whole vocabulary.
struct alignas(8) State {
  uint64_t k;
  Key* keys() { return reinterpret_cast<Key*>(this + 1); }
};

uint64_t state_bytes(const colibri_host*, uint32_t vocabulary) {
  return sizeof(State) + uint64_t{vocabulary} * sizeof(Key);
}

colibri_status create(const colibri_host* host, uint32_t, void* state, colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_ASSIGN(const int64_t k, plugin::int_option(host, "k"));
    static_cast<State*>(state)->k = static_cast<uint64_t>(k);
    return {};
  });
}

colibri_status apply(void* memory, colibri_candidates* list) {
  auto* state = static_cast<State*>(memory);
  if (state->k < list->n) SortedPrefix(*list, state->keys()).keep(state->k, *list);
  return COLIBRI_OK;
}

const colibri_sampler_1 kTable = {
    sizeof(colibri_sampler_1), state_bytes, create, nullptr, apply, nullptr};

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("top_k", "0.1.0");

}  // namespace
}  // namespace colibri::samplers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::samplers::kPlugin;
}
