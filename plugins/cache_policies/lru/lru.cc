// SPDX-License-Identifier: Apache-2.0
// The cache policy "lru": the expert that was not used for the longest time goes first.
//
// Each class has a ring of its residents in order of use, least recent first. A use is an access
// that is no prefetch; being inserted counts as one, too. The keys of one access were used at the
// same time: among them the ascending order stands, so that the lowest key goes first. Every call
// takes constant time per key; victims() also steps over what is not evictable.
#include <cstdint>

#include "colibri/cache_policy.h"
#include "plugins/cache_policies/common/policy_state.h"
#include "plugins/common/entry.h"
#include "runtime/base/guard.h"

namespace colibri::cache_policies {
namespace {

struct State {
  Shape shape;
  Rings rings;  // one per class

  State* lay_out(Cutter& cutter) {
    State* const placed = cutter.cut<State>(1);
    shape.keep_classes(cutter);
    rings.cut(cutter, shape.keys, shape.classes);
    return placed;
  }
  bool holds(uint32_t key) const { return key < shape.keys && rings.holds(key); }
};

uint64_t state_bytes(const colibri_cache_shape* shape, const colibri_host*) {
  if (!Shape::fits(*shape)) return 0;  // create says why
  Cutter cutter(nullptr);
  State{Shape::of(*shape), {}}.lay_out(cutter);
  return cutter.used();
}

colibri_status create(const colibri_cache_shape* shape, const colibri_host*, void* memory,
                      colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_TRY(Shape::check(*shape, "lru"));
    Cutter cutter(memory);
    State state = {Shape::of(*shape), {}};
    State* const placed = state.lay_out(cutter);
    state.rings.clear(shape->classes);
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
    if (allowed(evictable, key)) keys[count++] = key;
  }
  return count;
}

void on_evict(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (state.holds(key)) state.rings.remove(key);
}

// The order of use does not depend on how many there may be.
colibri_status resize(void* memory, uint32_t klass, uint32_t) {
  return klass < static_cast<State*>(memory)->shape.classes ? COLIBRI_OK : COLIBRI_INVALID_ARGUMENT;
}

const colibri_cache_policy_1 kTable = {sizeof(colibri_cache_policy_1),
                                       state_bytes,
                                       create,
                                       on_access,
                                       on_insert,
                                       victims,
                                       on_evict,
                                       resize};

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("lru", "0.1.0");

}  // namespace
}  // namespace colibri::cache_policies

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cache_policies::kPlugin;
}
