// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/residency.h"

#include <algorithm>
#include <utility>

namespace colibri::experts {
namespace {

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
  held.reserve(shape.experts);
  claimed.reserve(shape.experts);
}

Result<Residency> Residency::create(const RoutingShape& shape, uint64_t slots,
                                    PolicyPlugin policy) {
  Residency made;
  made.shape_ = shape;
  made.slots_.resize(slots);
  made.ruled_ = slots;
  if (slots < shape.keys()) {
    made.guarded_ = slots - 1 < shape.working_set();
    // Below the working set most experts pass through: more than one at a time, so that their loads
    // overlap.
    const uint64_t guarded_passage = std::clamp<uint64_t>(shape.top_k, 1, slots / 2);
    made.ruled_ = slots - (made.guarded_ ? guarded_passage : 1);
  }
  made.slot_of_key_.assign(shape.keys(), kAbsent);
  const uint64_t words = (shape.keys() + 63) / 64;
  made.evictable_.assign(words, 0);
  made.safe_.assign(words, 0);
  made.droppable_.assign(words, 0);
  made.uses_.assign(shape.keys(), 0);
  made.free_.reserve(made.ruled_);
  made.free_passage_.reserve(slots - made.ruled_);
  for (uint64_t i = slots; i > 0; --i) {
    const auto slot = static_cast<int32_t>(i - 1);
    (made.in_passage(slot) ? made.free_passage_ : made.free_).push_back(slot);
  }
  COLIBRI_ASSIGN(made.policy_,
                 Policy::create(std::move(policy), shape, static_cast<uint32_t>(made.ruled_)));
  return made;
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

std::span<const uint64_t> Residency::droppable() {
  if (!guarded_) return evictable_;
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

Result<int32_t> Residency::claim(uint32_t key) {
  if (free_.empty()) {
    const std::span<const uint64_t> droppable_now = droppable();
    if (std::all_of(droppable_now.begin(), droppable_now.end(),
                    [](uint64_t word) { return word == 0; })) {
      // Everything is in use, and a slot comes free when a visitor moves on; or the guard holds.
      return guarded_ ? pass(key) : kAbsent;
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
  return slot;
}

void Residency::begin(Demand& demand, uint64_t step, uint32_t layer,
                      std::span<const int32_t> experts) {
  end(demand);
  demand.keys.clear();
  demand.resident.clear();
  const uint32_t first = layer * shape_.experts;
  if (guarded_) {
    for (uint32_t i = 0; i < shape_.experts; ++i) clear(safe_, first + i);
  }
  for (const int32_t expert : experts) {
    const uint32_t key = first + static_cast<uint32_t>(expert);
    const int32_t slot = slot_of_key_[key];
    const bool hit = slot != kAbsent && at(slot).ready;
    ++uses_[key];
    demand.keys.push_back(key);
    demand.resident.push_back(hit ? 1 : 0);
    if (hit) {
      lease(slot);
      set(safe_, key);
      demand.held.push_back(slot);
    } else {
      demand.missing.push_back(key);
    }
  }
  demand.hits_pending = !demand.held.empty();
  counters_.hits += demand.held.size();
  counters_.misses += demand.missing.size();
  policy_->on_access(step, demand.keys, demand.resident.data());
}

bool Residency::end_wave(Demand& demand) {
  if (demand.hits_pending || demand.held.empty()) return false;
  for (const int32_t slot : demand.held) release(slot);
  demand.held.clear();
  return true;
}

Status Residency::take_wave(Demand& demand) {
  demand.claimed.clear();
  if (std::exchange(demand.hits_pending, false)) return {};
  size_t left = 0;
  for (size_t i = 0; i < demand.missing.size(); ++i) {
    const uint32_t key = demand.missing[i];
    int32_t slot = slot_of_key_[key];
    if (slot == kAbsent) {
      const Result<int32_t> claimed = claim(key);
      if (!claimed.ok()) {
        failed(demand);
        end(demand);
        return claimed.status();
      }
      slot = *claimed;
      if (slot != kAbsent) demand.claimed.push_back(slot);
    } else if (at(slot).ready) {
      lease(slot);
    } else {
      slot = kAbsent;  // another visitor is loading it
    }
    if (slot != kAbsent) {
      demand.held.push_back(slot);
    } else {
      demand.missing[left++] = key;
    }
  }
  demand.missing.resize(left);
  return {};
}

void Residency::loaded(Demand& demand) {
  for (const int32_t slot : demand.claimed) {
    at(slot).ready = true;
    ++counters_.loads;
    if (in_passage(slot)) continue;
    set(safe_, at(slot).key);
    policy_->on_insert(at(slot).key);
  }
  demand.claimed.clear();
}

void Residency::failed(Demand& demand) {
  for (const int32_t slot : demand.claimed) {
    std::erase(demand.held, slot);
    vacate(slot);
  }
  demand.claimed.clear();
}

bool Residency::end(Demand& demand) {
  demand.missing.clear();
  demand.hits_pending = false;
  return end_wave(demand);
}

}  // namespace colibri::experts
