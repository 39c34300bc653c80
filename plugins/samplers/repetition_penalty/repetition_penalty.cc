// SPDX-License-Identifier: Apache-2.0
// The sampler "repetition_penalty": tokens that were seen become less likely (Keskar et al. 2019,
// arXiv:1909.05858, section 4.1; negative logits are multiplied, as in transformers).
#include <algorithm>
#include <bit>
#include <cfloat>

#include "colibri/sampler.h"
#include "plugins/common/entry.h"
#include "plugins/common/options.h"
#include "runtime/base/guard.h"

namespace colibri::samplers {
namespace {

// Behind it: room to sort the vocabulary, how often each token was seen, and the last tokens, as a
// ring.
struct alignas(8) State {
  float penalty;
  uint32_t vocabulary;
  uint32_t last_n;  // room of the ring; kAll = no ring
  uint32_t length;  // tokens in the ring
  uint32_t next;    // where the next one goes

  static constexpr uint32_t kAll = UINT32_MAX;
  uint64_t* keys() { return reinterpret_cast<uint64_t*>(this + 1); }
  uint32_t* counts() { return reinterpret_cast<uint32_t*>(keys() + vocabulary); }
  int32_t* ring() { return reinterpret_cast<int32_t*>(counts() + vocabulary); }
};

Result<uint32_t> last_n(const colibri_host* host) {
  COLIBRI_ASSIGN(const int64_t n, plugin::int_option(host, "last_n"));
  return n < 0 ? State::kAll : static_cast<uint32_t>(n);
}

uint64_t state_bytes(const colibri_host* host, uint32_t vocabulary) {
  const Result<uint32_t> n = last_n(host);
  const uint64_t ring = n.ok() && *n != State::kAll ? *n : 0;
  return sizeof(State) + vocabulary * uint64_t{sizeof(uint64_t) + sizeof(uint32_t)} +
         ring * sizeof(int32_t);
}

colibri_status create(const colibri_host* host, uint32_t vocabulary, void* memory,
                      colibri_error* error) {
  return guard(error, [&]() -> Status {
    auto* state = static_cast<State*>(memory);
    COLIBRI_ASSIGN(const double penalty, plugin::float_option(host, "penalty"));
    COLIBRI_ASSIGN(state->last_n, last_n(host));
    state->penalty = static_cast<float>(penalty);
    state->vocabulary = vocabulary;
    return {};
  });
}

void accept(void* memory, int32_t token) {
  auto* state = static_cast<State*>(memory);
  if (token < 0 || static_cast<uint32_t>(token) >= state->vocabulary || state->last_n == 0) return;
  ++state->counts()[token];
  if (state->last_n == State::kAll) return;
  if (state->length == state->last_n) {
    --state->counts()[state->ring()[state->next]];
  } else {
    ++state->length;
  }
  state->ring()[state->next] = token;
  state->next = (state->next + 1) % state->last_n;
}

// A penalised list is no longer in order; the host then wants ascending ids.
void sort_by_id(colibri_candidates& list, uint64_t* keys) {
  for (size_t i = 0; i < list.n; ++i) {
    keys[i] = (uint64_t{static_cast<uint32_t>(list.id[i])} << 32) |
              std::bit_cast<uint32_t>(list.logit[i]);
  }
  std::sort(keys, keys + list.n);
  for (size_t i = 0; i < list.n; ++i) {
    list.id[i] = static_cast<int32_t>(keys[i] >> 32);
    list.logit[i] = std::bit_cast<float>(static_cast<uint32_t>(keys[i]));
  }
  list.sorted = 0;
}

colibri_status apply(void* memory, colibri_candidates* list) {
  auto* state = static_cast<State*>(memory);
  const uint32_t* counts = state->counts();
  bool changed = false;
  for (size_t i = 0; i < list->n; ++i) {
    if (counts[list->id[i]] == 0) continue;
    float& logit = list->logit[i];
    logit =
        std::clamp(logit > 0 ? logit / state->penalty : logit * state->penalty, -FLT_MAX, FLT_MAX);
    changed = true;
  }
  if (changed && list->sorted != 0) sort_by_id(*list, state->keys());
  return COLIBRI_OK;
}

void reset(void* memory) {
  auto* state = static_cast<State*>(memory);
  std::fill_n(state->counts(), state->vocabulary, 0u);
  state->length = state->next = 0;
}

const colibri_sampler_1 kTable = {
    sizeof(colibri_sampler_1), state_bytes, create, accept, apply, reset};

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("repetition_penalty", "0.1.0");

}  // namespace
}  // namespace colibri::samplers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::samplers::kPlugin;
}
