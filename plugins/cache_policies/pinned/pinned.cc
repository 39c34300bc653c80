// SPDX-License-Identifier: Apache-2.0
// The cache policy "pinned": the experts that a list names first never leave; all others go as by
// lru, the one that was not used for the longest time first.
//
// The list is the option `usage`. Of each class as many of its experts are pinned, in its order, as
// `share` of the slots can hold. They become resident with their first use. A static list is as good
// as it is like the work to come: a list of other work costs hits.
#include <algorithm>
#include <cstdint>

#include "colibri/cache_policy.h"
#include "plugins/cache_policies/common/policy_state.h"
#include "plugins/cache_policies/pinned/usage_list.h"
#include "plugins/common/entry.h"
#include "plugins/common/options.h"
#include "runtime/base/guard.h"

namespace colibri::cache_policies {
namespace {

constexpr uint32_t kUnlisted = UINT32_MAX;

struct State {
  Shape shape;
  double share;
  Rings rings;       // one per class, least recent first
  uint32_t* rank;    // [keys] its place in the list among those of its class
  uint32_t* pinned;  // [classes] ranks below are pinned

  State* lay_out(Cutter& cutter) {
    State* const placed = cutter.cut<State>(1);
    shape.keep_classes(cutter);
    rings.cut(cutter, shape.keys, shape.classes);
    rank = cutter.cut<uint32_t>(shape.keys);
    pinned = cutter.cut<uint32_t>(shape.classes);
    return placed;
  }

  bool holds(uint32_t key) const { return key < shape.keys && rings.holds(key); }
  void pin(uint32_t klass, uint32_t slots) { pinned[klass] = static_cast<uint32_t>(share * slots); }

  Status read_list(std::string_view text) {
    std::fill(rank, rank + shape.keys, kUnlisted);
    uint32_t* const listed = pinned;  // so far, by class
    std::fill(listed, listed + shape.classes, 0);
    return UsageList(text).read(shape.layers, shape.experts,
                                [&](uint32_t layer, uint32_t expert) -> Status {
                                  const uint32_t key = layer * shape.experts + expert;
                                  if (rank[key] != kUnlisted)
                                    return corrupt_data("lists an expert again");
                                  rank[key] = listed[shape.class_of(key)]++;
                                  return {};
                                });
  }
};

uint64_t state_bytes(const colibri_cache_shape* shape, const colibri_host*) {
  if (!Shape::fits(*shape)) return 0;  // create says why
  Cutter cutter(nullptr);
  State state = {};
  state.shape = Shape::of(*shape);
  state.lay_out(cutter);
  return cutter.used();
}

colibri_status create(const colibri_cache_shape* shape, const colibri_host* host, void* memory,
                      colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_TRY(Shape::check(*shape, "pinned"));
    COLIBRI_ASSIGN(const double share, plugin::float_option(host, "share"));
    COLIBRI_ASSIGN(const std::string_view list, plugin::string_option(host, "usage"));
    Cutter cutter(memory);
    State state = {};
    state.shape = Shape::of(*shape);
    state.share = share;
    State* const placed = state.lay_out(cutter);
    state.rings.clear(shape->classes);
    COLIBRI_TRY(state.read_list(list).at("pinned: option usage"));
    for (uint32_t klass = 0; klass < shape->classes; ++klass) {
      state.pin(klass, shape->slots[klass]);
    }
    *placed = state;
    return {};
  });
}

void on_access(void* memory, uint64_t, const uint32_t* keys, const uint8_t*, uint32_t n,
               int32_t prefetched) {
  if (prefetched != 0) return;
  auto& state = *static_cast<State*>(memory);
  for (uint32_t i = 0; i < n; ++i) {
    if (!state.holds(keys[i])) continue;  // a miss
    state.rings.remove(keys[i]);
    state.rings.append(state.shape.class_of(keys[i]), keys[i]);
  }
}

void on_insert(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key >= state.shape.keys || state.rings.holds(key)) return;
  state.rings.append(state.shape.class_of(key), key);
}

uint32_t victims(void* memory, uint32_t klass, const uint64_t* evictable, uint32_t n,
                 uint32_t* keys) {
  const auto& state = *static_cast<const State*>(memory);
  if (klass >= state.shape.classes) return 0;
  uint32_t count = 0;
  for (uint32_t key = state.rings.first(klass); key != state.rings.end(klass) && count < n;
       key = state.rings.next(key)) {
    const bool stays = state.rank[key] < state.pinned[klass];
    if (!stays && allowed(evictable, key)) keys[count++] = key;
  }
  return count;
}

void on_evict(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (state.holds(key)) state.rings.remove(key);
}

colibri_status resize(void* memory, uint32_t klass, uint32_t slots) {
  auto& state = *static_cast<State*>(memory);
  if (klass >= state.shape.classes) return COLIBRI_INVALID_ARGUMENT;
  state.pin(klass, slots);
  return COLIBRI_OK;
}

const colibri_cache_policy_1 kTable = {sizeof(colibri_cache_policy_1),
                                       state_bytes,
                                       create,
                                       on_access,
                                       on_insert,
                                       victims,
                                       on_evict,
                                       resize};

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("pinned", "0.1.0");

}  // namespace
}  // namespace colibri::cache_policies

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cache_policies::kPlugin;
}
