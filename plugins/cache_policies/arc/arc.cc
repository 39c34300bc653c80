// SPDX-License-Identifier: Apache-2.0
// The cache policy "arc", adaptive replacement (Megiddo and Modha 2003, "ARC: a self-tuning, low
// overhead replacement cache", FAST).
//
// Residents stand in t1, used once of late, or t2, used more often; keys that left them are
// remembered in b1 and b2. A miss that b1 remembers says that t1 should be longer, one that b2
// remembers that t2 should: the target length of t1 moves. The victim is the least recent of t1 if
// that is longer than its target, else of t2.
//
// The paper serves one page at a time; here a layer asks for several experts at once. Targets move
// for all of them in on_access(), and the paper's rule for a t1 of just the target length, which
// asks whether the miss came from b2, holds if any miss of the last access did. The paper trims b1
// and b2 before a page comes in, this trims them after: which keys remain is the same. Constant
// time per key; victims() also steps over what is not evictable.
#include <algorithm>
#include <cstdint>

#include "colibri/cache_policy.h"
#include "plugins/cache_policies/common/policy_state.h"
#include "plugins/common/entry.h"
#include "runtime/base/guard.h"

namespace colibri::cache_policies {
namespace {

enum List : uint8_t { kT1, kT2, kB1, kB2, kNowhere };

struct Lists {  // of a class
  uint32_t slots;
  double target;       // of the length of t1
  uint32_t length[4];  // by List
  bool miss_from_b2;   // in the last access
};

struct State {
  Shape shape;
  Rings rings;    // four per class, least recent first
  Lists* lists;   // [classes]
  uint8_t* list;  // [keys] a List

  State* lay_out(Cutter& cutter) {
    State* const placed = cutter.cut<State>(1);
    shape.keep_classes(cutter);
    rings.cut(cutter, shape.keys, 4 * shape.classes);
    lists = cutter.cut<Lists>(shape.classes);
    list = cutter.cut<uint8_t>(shape.keys);
    return placed;
  }

  static uint32_t ring(uint32_t klass, List which) { return 4 * klass + which; }
  bool resident(uint32_t key) const { return list[key] == kT1 || list[key] == kT2; }

  // To the most recent end of a list, or nowhere.
  void move(uint32_t key, List to) {
    const uint32_t klass = shape.class_of(key);
    if (list[key] != kNowhere) {
      rings.remove(key);
      --lists[klass].length[list[key]];
    }
    list[key] = to;
    if (to == kNowhere) return;
    rings.append(ring(klass, to), key);
    ++lists[klass].length[to];
  }

  // t1 and b1 together are at most as long as there are slots, all four twice as long.
  void trim(uint32_t klass) {
    const Lists& at = lists[klass];
    const uint32_t(&length)[4] = at.length;
    while (length[kB1] > 0 && length[kT1] + length[kB1] > at.slots) {
      move(rings.first(ring(klass, kB1)), kNowhere);
    }
    while (length[kB2] > 0 &&
           uint64_t{length[kT1]} + length[kT2] + length[kB1] + length[kB2] > 2ull * at.slots) {
      move(rings.first(ring(klass, kB2)), kNowhere);
    }
  }

  void adapt(uint32_t klass, List from) {
    Lists& at = lists[klass];
    const double b1 = at.length[kB1], b2 = at.length[kB2];
    if (from == kB1) {
      at.target = std::min<double>(at.slots, at.target + std::max(1.0, b2 / b1));
    } else {
      at.target = std::max(0.0, at.target - std::max(1.0, b1 / b2));
      at.miss_from_b2 = true;
    }
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

colibri_status create(const colibri_cache_shape* shape, const colibri_host*, void* memory,
                      colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_TRY(Shape::check(*shape, "arc"));
    Cutter cutter(memory);
    State state = {};
    state.shape = Shape::of(*shape);
    State* const placed = state.lay_out(cutter);
    state.rings.clear(4 * shape->classes);
    std::fill(state.list, state.list + state.shape.keys, kNowhere);
    for (uint32_t klass = 0; klass < shape->classes; ++klass) {
      state.lists[klass].slots = shape->slots[klass];
    }
    *placed = state;
    return {};
  });
}

void on_access(void* memory, uint64_t, const uint32_t* keys, const uint8_t*, uint32_t n,
               int32_t prefetched) {
  if (prefetched != 0) return;
  auto& state = *static_cast<State*>(memory);
  for (uint32_t klass = 0; klass < state.shape.classes; ++klass) {
    state.lists[klass].miss_from_b2 = false;
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t key = keys[i];
    if (key >= state.shape.keys) continue;
    if (state.resident(key)) {
      state.move(key, kT2);
    } else if (state.list[key] != kNowhere) {
      state.adapt(state.shape.class_of(key), static_cast<List>(state.list[key]));
    }
  }
}

void on_insert(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key >= state.shape.keys || state.resident(key)) return;
  state.move(key, state.list[key] == kNowhere ? kT1 : kT2);
  state.trim(state.shape.class_of(key));
}

uint32_t victims(void* memory, uint32_t klass, const uint64_t* evictable, uint32_t n,
                 uint32_t* keys) {
  const auto& state = *static_cast<const State*>(memory);
  if (klass >= state.shape.classes) return 0;
  const Lists& lists = state.lists[klass];
  uint32_t t1_length = lists.length[kT1];
  uint32_t at[2] = {state.rings.first(State::ring(klass, kT1)),
                    state.rings.first(State::ring(klass, kT2))};
  const auto next = [&](List which) {  // the next evictable key, or the end of the ring
    const uint32_t end = state.rings.end(State::ring(klass, which));
    while (at[which] != end && !allowed(evictable, at[which])) {
      at[which] = state.rings.next(at[which]);
    }
    return at[which] != end;
  };
  uint32_t count = 0;
  while (count < n) {
    const bool from_t1 = t1_length > lists.target ||
                         (t1_length > 0 && t1_length == lists.target && lists.miss_from_b2);
    List which = from_t1 ? kT1 : kT2;
    if (!next(which)) which = which == kT1 ? kT2 : kT1;
    if (!next(which)) break;
    keys[count++] = at[which];
    at[which] = state.rings.next(at[which]);
    if (which == kT1) --t1_length;
  }
  return count;
}

void on_evict(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key >= state.shape.keys || !state.resident(key)) return;
  state.move(key, state.list[key] == kT1 ? kB1 : kB2);
}

colibri_status resize(void* memory, uint32_t klass, uint32_t slots) {
  auto& state = *static_cast<State*>(memory);
  if (klass >= state.shape.classes) return COLIBRI_INVALID_ARGUMENT;
  state.lists[klass].slots = slots;
  state.lists[klass].target = std::min<double>(state.lists[klass].target, slots);
  state.trim(klass);
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

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("arc", "0.1.0");

}  // namespace
}  // namespace colibri::cache_policies

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cache_policies::kPlugin;
}
