// SPDX-License-Identifier: Apache-2.0
// The cache policy "s3fifo": three queues (Yang et al. 2023, "FIFO queues are all you need for cache
// eviction", SOSP).
//
// A new resident enters the small queue, a tenth of the slots, and its uses are counted up to 3. At
// its head it moves to the main queue if it was used twice or more, else it leaves, and its key is
// remembered in the ghost queue, nine tenths as long as there are slots. A key that comes back while
// it is remembered enters the main queue at once. At the head of the main queue a resident that was
// used goes to the tail with one use less, another one leaves. The small queue gives a victim unless
// the main one is longer than its share. As in the authors' library libCacheSim, what no longer
// fits the small queue before anything was ever dropped enters the main queue.
//
// victims() changes nothing: it looks where the hands would stop. on_evict() moves them there. What
// they pass over unused was not evictable and stays in its place. Constant time per key, amortised:
// each step of a hand takes back a use, moves a key for good, or steps over what is not evictable.
#include <algorithm>
#include <cstdint>

#include "colibri/cache_policy.h"
#include "plugins/cache_policies/common/policy_state.h"
#include "plugins/common/entry.h"
#include "runtime/base/guard.h"

namespace colibri::cache_policies {
namespace {

constexpr uint8_t kMaxUses = 3;
constexpr uint8_t kUsesToStay = 2;  // in the small queue

// Returning: was asked for while it was remembered, and is not resident yet.
enum Place : uint8_t { kNowhere, kReturning, kGhost, kSmall, kMain };

struct Queues {  // of a class
  uint32_t small_share, main_share, ghost_share;
  uint32_t small, main, ghost;  // lengths
  bool dropped_any;

  void share_out(uint32_t slots) {
    small_share = std::max(1u, slots / 10);
    main_share = slots - std::min(slots, small_share);
    ghost_share = static_cast<uint32_t>(uint64_t{slots} * 9 / 10);
  }
  static bool small_gives(uint32_t small_length, uint32_t main_length, const Queues& shares) {
    return small_length > 0 && main_length <= shares.main_share;
  }
};

struct State {
  Shape shape;
  Rings rings;     // three per class, heads first
  Queues* queues;  // [classes]
  uint8_t* place;  // [keys]
  uint8_t* uses;   // [keys]

  State* lay_out(Cutter& cutter) {
    State* const placed = cutter.cut<State>(1);
    shape.keep_classes(cutter);
    rings.cut(cutter, shape.keys, 3 * shape.classes);
    queues = cutter.cut<Queues>(shape.classes);
    place = cutter.cut<uint8_t>(shape.keys);
    uses = cutter.cut<uint8_t>(shape.keys);
    return placed;
  }

  static uint32_t small_ring(uint32_t klass) { return 3 * klass; }
  static uint32_t main_ring(uint32_t klass) { return 3 * klass + 1; }
  static uint32_t ghost_ring(uint32_t klass) { return 3 * klass + 2; }

  void enter(uint32_t klass, uint32_t key, Place where) {
    place[key] = where;
    uses[key] = 0;
    if (where == kSmall) {
      rings.append(small_ring(klass), key);
      ++queues[klass].small;
    } else {
      rings.append(main_ring(klass), key);
      ++queues[klass].main;
    }
  }

  // The hand of the small queue, up to `stop`.
  void promote(uint32_t klass, uint32_t stop) {
    for (uint32_t key = rings.first(small_ring(klass)); key != stop;) {
      const uint32_t next = rings.next(key);
      if (uses[key] >= kUsesToStay) {
        rings.remove(key);
        --queues[klass].small;
        enter(klass, key, kMain);
      }
      key = next;
    }
  }

  void remember(uint32_t klass, uint32_t key) {
    rings.append(ghost_ring(klass), key);
    place[key] = kGhost;
    ++queues[klass].ghost;
    trim_ghosts(klass);
  }
  void trim_ghosts(uint32_t klass) {
    while (queues[klass].ghost > queues[klass].ghost_share) {
      forget(klass, rings.first(ghost_ring(klass)), kNowhere);
    }
  }
  void forget(uint32_t klass, uint32_t key, Place then) {
    rings.remove(key);
    place[key] = then;
    --queues[klass].ghost;
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
    COLIBRI_TRY(Shape::check(*shape, "s3fifo"));
    Cutter cutter(memory);
    State state = {};
    state.shape = Shape::of(*shape);
    State* const placed = state.lay_out(cutter);
    state.rings.clear(3 * shape->classes);
    for (uint32_t klass = 0; klass < shape->classes; ++klass) {
      state.queues[klass].share_out(shape->slots[klass]);
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
    const uint32_t key = keys[i];
    if (key >= state.shape.keys) continue;
    if (state.place[key] == kGhost) {
      state.forget(state.shape.class_of(key), key, kReturning);
    } else if (state.place[key] >= kSmall) {
      state.uses[key] = std::min<uint8_t>(kMaxUses, state.uses[key] + 1);
    }
  }
}

void on_insert(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key >= state.shape.keys || state.place[key] >= kSmall) return;
  const uint32_t klass = state.shape.class_of(key);
  const Queues& queues = state.queues[klass];
  const bool returns = state.place[key] != kNowhere;
  if (state.place[key] == kGhost) state.forget(klass, key, kNowhere);
  const bool small_is_full = !queues.dropped_any && queues.small >= queues.small_share;
  state.enter(klass, key, returns || small_is_full ? kMain : kSmall);
}

// Where the hands would stop, one victim after the other.
class Hands {
 public:
  Hands(const State& state, uint32_t klass, const uint64_t* evictable)
      : state_(state),
        rings_(state.rings),
        evictable_(evictable),
        small_end_(rings_.end(State::small_ring(klass))),
        main_begin_(rings_.first(State::main_ring(klass))),
        main_end_(rings_.end(State::main_ring(klass))),
        shares_(state.queues[klass]),
        small_length_(shares_.small),
        main_length_(shares_.main),
        small_hand_(rings_.first(State::small_ring(klass))),
        main_hand_(main_begin_),
        promoted_(small_hand_) {}

  bool next(uint32_t& victim) {
    const bool small_first = Queues::small_gives(small_length_, main_length_, shares_);
    return small_first ? next_small(victim) || next_main(victim)
                       : next_main(victim) || next_small(victim);
  }

 private:
  bool next_small(uint32_t& victim) {
    while (small_hand_ != small_end_) {
      const uint32_t key = small_hand_;
      small_hand_ = rings_.next(key);
      if (state_.uses[key] >= kUsesToStay) {
        --small_length_;
        ++main_length_;
      } else if (allowed(evictable_, key)) {
        --small_length_;
        victim = key;
        return true;
      }
    }
    return false;
  }

  // Round by round every resident loses a use; those that the small hand has promoted stand behind
  // the others, without uses.
  bool next_main(uint32_t& victim) {
    for (; round_ <= kMaxUses; ++round_, main_hand_ = main_begin_) {
      while (main_hand_ != main_end_) {
        const uint32_t key = main_hand_;
        main_hand_ = rings_.next(key);
        if (state_.uses[key] == round_ && take(key, victim)) return true;
      }
      while (round_ == 0 && promoted_ != small_hand_) {
        const uint32_t key = promoted_;
        promoted_ = rings_.next(key);
        if (state_.uses[key] >= kUsesToStay && take(key, victim)) return true;
      }
    }
    return false;
  }
  bool take(uint32_t key, uint32_t& victim) {
    if (!allowed(evictable_, key)) return false;
    --main_length_;
    victim = key;
    return true;
  }

  const State& state_;
  const Rings& rings_;
  const uint64_t* evictable_;
  const uint32_t small_end_, main_begin_, main_end_;
  const Queues& shares_;
  uint32_t small_length_, main_length_;  // as they would be
  uint32_t small_hand_, main_hand_, promoted_;
  uint32_t round_ = 0;
};

uint32_t victims(void* memory, uint32_t klass, const uint64_t* evictable, uint32_t n,
                 uint32_t* keys) {
  const auto& state = *static_cast<const State*>(memory);
  if (klass >= state.shape.classes) return 0;
  Hands hands(state, klass, evictable);
  uint32_t count = 0;
  while (count < n && hands.next(keys[count])) ++count;
  return count;
}

void on_evict(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key >= state.shape.keys || state.place[key] < kSmall) return;
  const uint32_t klass = state.shape.class_of(key);
  Queues& queues = state.queues[klass];
  Rings& rings = state.rings;
  queues.dropped_any = true;
  if (state.place[key] == kSmall && state.uses[key] < kUsesToStay) {
    state.promote(klass, key);
    rings.remove(key);
    --queues.small;
    state.remember(klass, key);
    return;
  }
  // The small hand may have promoted the key, or found nothing: it has gone all the way.
  if (state.place[key] == kSmall || Queues::small_gives(queues.small, queues.main, queues)) {
    state.promote(klass, rings.end(State::small_ring(klass)));
  }
  const uint32_t end = rings.end(State::main_ring(klass));
  for (uint32_t hand = rings.first(State::main_ring(klass)); hand != key || state.uses[key] > 0;) {
    if (hand == end) {
      hand = rings.first(State::main_ring(klass));
      continue;
    }
    const uint32_t next = rings.next(hand);
    if (state.uses[hand] > 0) {
      --state.uses[hand];
      rings.remove(hand);
      rings.append(State::main_ring(klass), hand);
      // The last of the round was its own successor.
      hand = next == end ? rings.previous(end) : next;
    } else {
      hand = next;
    }
  }
  rings.remove(key);
  --queues.main;
  state.place[key] = kNowhere;
}

colibri_status resize(void* memory, uint32_t klass, uint32_t slots) {
  auto& state = *static_cast<State*>(memory);
  if (klass >= state.shape.classes) return COLIBRI_INVALID_ARGUMENT;
  state.queues[klass].share_out(slots);
  state.trim_ghosts(klass);
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

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("s3fifo", "0.1.0");

}  // namespace
}  // namespace colibri::cache_policies

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cache_policies::kPlugin;
}
