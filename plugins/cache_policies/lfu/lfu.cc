// SPDX-License-Identifier: Apache-2.0
// The cache policy "lfu": the expert that was used least often goes first, with ageing.
//
// Every key has a count of its uses; a use is an access that is no prefetch. Each `half_life` steps
// all counts are halved (Robinson and Devarakonda 1990, "Data cache management using
// frequency-based replacement", section 3: counts that only grow keep what once was popular for
// ever). With `remember` counts live on while an expert is not in memory, as in the "perfect" LFU of
// Breslau et al. 1999, "Web caching and Zipf-like distributions": there are few keys, so they can.
//
// Each class has one ring of its residents, lowest count first; among equal counts the one that
// reached it first goes first. Halving keeps the order, so the ring needs no sorting: a key moves
// behind the last one of the highest count that is not above its own. `last` knows that one per
// count, and a bit per count says which there are. Constant time per key (Shah, Mitra, Matani 2010,
// "An O(1) algorithm for implementing the LFU cache eviction scheme", with arrays instead of lists);
// halving takes one pass over the keys.
#include <algorithm>
#include <cstdint>

#include "colibri/cache_policy.h"
#include "plugins/cache_policies/common/policy_state.h"
#include "plugins/common/entry.h"
#include "plugins/common/options.h"
#include "runtime/base/guard.h"

namespace colibri::cache_policies {
namespace {

constexpr uint32_t kCounts = 4096;  // counts stay below

struct State {
  Shape shape;
  uint64_t half_life;  // 0 = never
  bool remember;
  uint64_t age;     // halvings so far
  Rings rings;      // one per class
  uint16_t* count;  // [keys]
  uint32_t* last;   // [classes][kCounts] the last key with this count
  uint64_t* used;   // [classes][kCounts / 64] bit per count: some resident has it

  State* lay_out(Cutter& cutter) {
    State* const placed = cutter.cut<State>(1);
    shape.keep_classes(cutter);
    rings.cut(cutter, shape.keys, shape.classes);
    count = cutter.cut<uint16_t>(shape.keys);
    last = cutter.cut<uint32_t>(uint64_t{shape.classes} * kCounts);
    used = cutter.cut<uint64_t>(uint64_t{shape.classes} * (kCounts / 64));
    return placed;
  }

  bool holds(uint32_t key) const { return key < shape.keys && rings.holds(key); }
  uint32_t& last_of(uint32_t klass, uint32_t n) { return last[uint64_t{klass} * kCounts + n]; }
  uint64_t& used_word(uint32_t klass, uint32_t n) {
    return used[(uint64_t{klass} * kCounts + n) / 64];
  }

  // Behind the keys with its count, or with the next lower one.
  void place(uint32_t key) {
    const uint32_t klass = shape.class_of(key);
    const uint32_t n = count[key];
    uint32_t before = rings.end(klass);  // nothing is lower: the key becomes the first
    uint64_t word = used_word(klass, n) & (~uint64_t{0} >> (63 - n % 64));
    for (uint32_t base = n / 64 * 64;; base -= 64) {
      if (word != 0) {
        const auto highest = static_cast<uint32_t>(63 - __builtin_clzll(word));
        before = last_of(klass, base + highest);
        break;
      }
      if (base == 0) break;
      word = used_word(klass, base - 64);
    }
    rings.insert_before(rings.next(before), key);
    last_of(klass, n) = key;
    used_word(klass, n) |= uint64_t{1} << (n % 64);
  }

  void take_out(uint32_t key) {
    const uint32_t klass = shape.class_of(key);
    const uint32_t n = count[key];
    if (last_of(klass, n) == key) {
      const uint32_t previous = rings.previous(key);
      if (previous != rings.end(klass) && count[previous] == n) {
        last_of(klass, n) = previous;
      } else {
        used_word(klass, n) &= ~(uint64_t{1} << (n % 64));
      }
    }
    rings.remove(key);
  }

  void halve(uint32_t times) {
    for (uint32_t key = 0; key < shape.keys; ++key) {
      count[key] = static_cast<uint16_t>(count[key] >> times);
    }
    std::fill(used, used + uint64_t{shape.classes} * (kCounts / 64), 0);
    for (uint32_t klass = 0; klass < shape.classes; ++klass) {
      for (uint32_t key = rings.first(klass); key != rings.end(klass); key = rings.next(key)) {
        last_of(klass, count[key]) = key;
        used_word(klass, count[key]) |= uint64_t{1} << (count[key] % 64);
      }
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

colibri_status create(const colibri_cache_shape* shape, const colibri_host* host, void* memory,
                      colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_TRY(Shape::check(*shape, "lfu"));
    COLIBRI_ASSIGN(const int64_t half_life, plugin::int_option(host, "half_life"));
    COLIBRI_ASSIGN(const bool remember, plugin::bool_option(host, "remember"));
    Cutter cutter(memory);
    State state = {};
    state.shape = Shape::of(*shape);
    state.half_life = static_cast<uint64_t>(half_life);
    state.remember = remember;
    State* const placed = state.lay_out(cutter);
    state.rings.clear(shape->classes);
    *placed = state;
    return {};
  });
}

void on_access(void* memory, uint64_t step, const uint32_t* keys, const uint8_t*, uint32_t n,
               int32_t prefetched) {
  if (prefetched != 0) return;
  auto& state = *static_cast<State*>(memory);
  if (state.half_life > 0 && step / state.half_life > state.age) {
    const uint64_t age = step / state.half_life;
    state.halve(static_cast<uint32_t>(std::min<uint64_t>(age - state.age, 15)));
    state.age = age;
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t key = keys[i];
    if (key >= state.shape.keys) continue;
    const bool resident = state.rings.holds(key);
    if (!resident && !state.remember) continue;
    if (resident) state.take_out(key);
    state.count[key] = static_cast<uint16_t>(std::min<uint32_t>(state.count[key] + 1, kCounts - 1));
    if (resident) state.place(key);
  }
}

void on_insert(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key >= state.shape.keys || state.rings.holds(key)) return;
  if (!state.remember) state.count[key] = 1;
  state.place(key);
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
  if (state.holds(key)) state.take_out(key);
}

// The counts do not depend on how many residents there may be.
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

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("lfu", "0.1.0");

}  // namespace
}  // namespace colibri::cache_policies

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cache_policies::kPlugin;
}
