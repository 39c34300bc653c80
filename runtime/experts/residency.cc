// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/residency.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace colibri::experts {
namespace {

// The passage has at least two slots, one computing and one loading, and otherwise this part of all,
// but no more than keep a disk busy.
constexpr uint64_t kSlotsPerPassage = 64, kWidestPassage = 16;

void set(std::vector<uint64_t>& bits, uint32_t key) {
  bits[key / 64] |= uint64_t{1} << (key % 64);
}
void clear(std::vector<uint64_t>& bits, uint32_t key) {
  bits[key / 64] &= ~(uint64_t{1} << (key % 64));
}

}  // namespace

Demand::Demand(const RoutingShape& shape) {
  keys.reserve(shape.experts);
  resident.reserve(shape.experts);
  missing.reserve(shape.experts);
  loading.reserve(Residency::kMostClaimed);
  held.reserve(shape.experts);
}

Residency::Uses Residency::uses_for(uint64_t slots) const {
  if (slots >= shape_.keys()) return {shape_.keys(), 0, false};
  uint64_t passage = std::clamp<uint64_t>(slots / kSlotsPerPassage, 2, kWidestPassage);
  const bool guarded = slots < passage + shape_.working_set();
  // Below the working set most experts of a token pass through, side by side.
  if (guarded) passage = std::max<uint64_t>(passage, shape_.top_k);
  passage = std::min(passage, slots / 2);
  return {slots - passage, passage, guarded};
}

Result<Residency> Residency::create(const RoutingShape& shape, uint64_t slots,
                                    PolicyPlugin policy) {
  Residency made;
  made.shape_ = shape;
  made.plugin_ = std::move(policy);
  made.slot_of_key_.assign(shape.keys(), kAbsent);
  const uint64_t words = (shape.keys() + 63) / 64;
  made.evictable_.assign(words, 0);
  made.safe_.assign(words, 0);
  made.droppable_.assign(words, 0);
  made.uses_.assign(shape.keys(), 0);
  COLIBRI_TRY(made.resize(slots));
  return made;
}

Status Residency::resize_policy(uint32_t slots) {
  // A policy may have sized its state for the slots it was created with.
  if (policy_ && slots <= policy_slots_) return policy_->resize(slots);
  COLIBRI_ASSIGN(Policy policy, Policy::create(plugin_, shape_, slots));
  for (const Slot& slot : slots_) {
    const int32_t placed = slot_of_key_[slot.key];
    if (slot.use == Use::kRuled && placed != kAbsent && &at(placed) == &slot) {
      policy.on_insert(slot.key);
    }
  }
  policy_ = std::move(policy);
  policy_slots_ = slots;
  return {};
}

Status Residency::resize(uint64_t slots) {
  const Uses wanted = uses_for(slots);
  const size_t before = slots_.size(), after = std::max<size_t>(before, wanted.all());
  // What may fail comes first, so that a failure leaves the slots as they were.
  slots_.reserve(after);
  for (auto* list : {&free_, &free_passage_, &spare_, &just_withdrawn_, &reported_}) {
    list->reserve(after);
  }
  COLIBRI_TRY(resize_policy(static_cast<uint32_t>(wanted.ruled)));
  uses_of_slots_ = wanted;
  std::fill(safe_.begin(), safe_.end(), ~uint64_t{0});
  slots_.resize(after);
  // In this order the lowest number is taken first.
  for (size_t i = after; i > before; --i) spare_.push_back(static_cast<int32_t>(i - 1));
  settle();
  return {};
}

void Residency::withdraw(std::vector<int32_t>& free, uint64_t& count) {
  const int32_t slot = free.back();
  free.pop_back();
  --count;
  at(slot).use = Use::kWithdrawn;
  spare_.push_back(slot);
  just_withdrawn_.push_back(slot);
}

void Residency::use(Use use, std::vector<int32_t>& free, uint64_t& count, uint64_t wanted) {
  while (count < wanted && ruled_ + passage_ < uses_of_slots_.all()) {
    const int32_t slot = spare_.back();
    spare_.pop_back();
    std::erase(just_withdrawn_, slot);
    at(slot).use = use;
    free.push_back(slot);
    ++count;
  }
  std::sort(free.begin(), free.end(), std::greater<>());
}

bool Residency::drop_one() {
  auto victim = policy_->victim(evictable_);
  std::optional<uint32_t> key;
  if (victim.ok()) key = *victim;
  // A lower budget is no question of which expert is worth its slot: any of them has to go.
  for (uint32_t i = 0; !key && i < evictable_.size(); ++i) {
    if (evictable_[i] != 0) key = i * 64 + static_cast<uint32_t>(std::countr_zero(evictable_[i]));
  }
  if (!key) return false;
  policy_->on_evict(*key);
  ++counters_.evictions;
  vacate(slot_of_key_[*key]);
  return true;
}

void Residency::settle() {
  const Uses& wanted = uses_of_slots_;
  if (ruled_ == wanted.ruled && passage_ == wanted.passage) return;
  while (ruled_ > wanted.ruled && (!free_.empty() || drop_one())) withdraw(free_, ruled_);
  while (passage_ > wanted.passage && !free_passage_.empty()) withdraw(free_passage_, passage_);
  use(Use::kRuled, free_, ruled_, wanted.ruled);
  use(Use::kPassage, free_passage_, passage_, wanted.passage);
}

std::span<const int32_t> Residency::withdrawn() {
  reported_.swap(just_withdrawn_);
  just_withdrawn_.clear();
  return reported_;
}

void Residency::forget_counters() {
  counters_ = {};
  std::fill(uses_.begin(), uses_.end(), 0);
}

void Residency::lease(int32_t slot) {
  ++at(slot).leases;
  clear(evictable_, at(slot).key);
}

void Residency::release(int32_t slot) {
  Slot& held = at(slot);
  if (--held.leases > 0) return;
  if (in_passage(slot)) {
    vacate(slot);
  } else if (held.ready) {
    set(evictable_, held.key);
  }
}

void Residency::occupy(int32_t slot, uint32_t key) {
  at(slot).key = key;
  at(slot).ready = false;
  slot_of_key_[key] = slot;
  lease(slot);
}

void Residency::vacate(int32_t slot) {
  Slot& left = at(slot);
  left.ready = false;
  left.leases = 0;
  slot_of_key_[left.key] = kAbsent;
  clear(evictable_, left.key);
  (in_passage(slot) ? free_passage_ : free_).push_back(slot);
}

std::span<const uint64_t> Residency::droppable(bool guarded) {
  if (!guarded) return evictable_;
  for (size_t i = 0; i < evictable_.size(); ++i) droppable_[i] = evictable_[i] & ~safe_[i];
  return droppable_;
}

int32_t Residency::pass(uint32_t key) {
  if (free_passage_.empty()) return kAbsent;
  const int32_t slot = free_passage_.back();
  free_passage_.pop_back();
  occupy(slot, key);
  return slot;
}

Result<int32_t> Residency::slot_for(uint32_t key, bool guarded) {
  if (free_.empty()) {
    const std::span<const uint64_t> droppable_now = droppable(guarded);
    if (std::all_of(droppable_now.begin(), droppable_now.end(),
                    [](uint64_t word) { return word == 0; })) {
      // Everything is in use, and a slot comes free when a visitor moves on; or the guard holds.
      return guarded ? pass(key) : kAbsent;
    }
    COLIBRI_ASSIGN(const std::optional<uint32_t> victim, policy_->victim(droppable_now));
    if (!victim) return pass(key);
    policy_->on_evict(*victim);
    ++counters_.evictions;
    vacate(slot_of_key_[*victim]);
  }
  const int32_t slot = free_.back();
  free_.pop_back();
  occupy(slot, key);
  set(safe_, key);
  policy_->on_insert(key);
  return slot;
}

Status Residency::begin(Demand& demand, uint64_t step, uint32_t layer,
                        std::span<const int32_t> experts) {
  end(demand);
  demand.keys.clear();
  demand.resident.clear();
  const uint32_t first = layer * shape_.experts;
  demand.guarded = !holds_all() && uint64_t{shape_.layers} * experts.size() > uses_of_slots_.ruled;
  if (demand.guarded) {
    for (uint32_t i = 0; i < shape_.experts; ++i) clear(safe_, first + i);
  }
  for (const int32_t expert : experts) {
    const uint32_t key = first + static_cast<uint32_t>(expert);
    const int32_t slot = slot_of_key_[key];
    // What another visitor is loading needs no read of its own either.
    const bool hit = slot != kAbsent;
    ++uses_[key];
    demand.keys.push_back(key);
    demand.resident.push_back(hit ? 1 : 0);
    ++(hit ? counters_.hits : counters_.misses);
    if (hit) set(safe_, key);
    if (hit && at(slot).ready) {
      lease(slot);
      demand.held.push_back(slot);
    } else {
      demand.missing.push_back(key);
    }
  }
  policy_->on_access(step, demand.keys, demand.resident.data());
  return claim(demand);
}

Status Residency::claim(Demand& demand) {
  size_t left = 0;
  bool more = true;
  for (const uint32_t key : demand.missing) {
    more = more && demand.claimed < kMostClaimed;
    if (more && slot_of_key_[key] == kAbsent) {
      COLIBRI_ASSIGN(const int32_t slot, slot_for(key, demand.guarded));
      if (slot != kAbsent) {
        demand.loading.push_back(slot);
        ++demand.claimed;
        continue;
      }
      more = false;
    }
    demand.missing[left++] = key;
  }
  demand.missing.resize(left);
  return {};
}

void Residency::loaded(Demand& demand, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t slot = demand.loading[i];
    at(slot).ready = true;
    ++counters_.loads;
    demand.held.push_back(slot);
  }
  demand.loading.erase(demand.loading.begin(),
                       demand.loading.begin() + static_cast<std::ptrdiff_t>(n));
  demand.held_own = true;
}

Status Residency::release(Demand& demand) {
  Status status;
  for (const int32_t slot : demand.held) {
    release(slot);
    settle();
    if (demand.held_own) --demand.claimed;
    if (status.ok()) status = claim(demand);
  }
  demand.held.clear();
  demand.held_own = false;
  return status;
}

Status Residency::retry(Demand& demand) {
  size_t left = 0;
  for (const uint32_t key : demand.missing) {
    const int32_t slot = slot_of_key_[key];
    if (slot != kAbsent && at(slot).ready) {
      lease(slot);
      demand.held.push_back(slot);
    } else {
      demand.missing[left++] = key;
    }
  }
  demand.missing.resize(left);
  return demand.held.empty() ? claim(demand) : Status();
}

void Residency::end(Demand& demand) {
  for (const int32_t slot : demand.held) release(slot);
  for (const int32_t slot : demand.loading) {
    if (!in_passage(slot)) policy_->on_evict(at(slot).key);
    vacate(slot);
  }
  settle();
  demand.missing.clear();
  demand.loading.clear();
  demand.held.clear();
  demand.held_own = false;
  demand.claimed = 0;
}

}  // namespace colibri::experts
