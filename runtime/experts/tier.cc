// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/tier.h"

#include <algorithm>
#include <utility>

namespace colibri::experts {

Stay::Stay(const RoutingShape& shape) {
  there.reserve(shape.experts);
  elsewhere.reserve(shape.experts);
  coming.reserve(shape.experts);
  copied.reserve(shape.experts);
  keys.reserve(shape.experts);
  resident.reserve(shape.experts);
}

Tier::Tier(const RoutingShape& shape, std::span<const ExpertPlace> places)
    : shape_(shape),
      places_(places.begin(), places.end()),
      slot_of_key_(shape.keys(), kAbsent),
      filled_(shape.layers),
      evictable_((shape.keys() + 63) / 64),
      recent_(shape.keys()),
      uses_(shape.keys()) {}

Result<std::unique_ptr<Tier>> Tier::create(const RoutingShape& shape,
                                           std::span<const ExpertPlace> places, uint32_t shared,
                                           PolicyPlugin policy) {
  std::unique_ptr<Tier> made(new Tier(shape, places));
  for (uint32_t key = 0; key < shape.keys(); ++key) {
    if (places[key / shape.experts] != ExpertPlace::kDevice) continue;
    made->slot_of_key_[key] = made->slots();
    made->slots_.push_back({key, 0, true, true});
  }
  const auto sharing =
      static_cast<uint32_t>(std::count(places.begin(), places.end(), ExpertPlace::kBoth));
  if (sharing == 0) return made;
  made->share_ = (shared + sharing - 1) / sharing;
  COLIBRI_ASSIGN(Policy created, Policy::create(std::move(policy), shape, shared));
  made->policy_ = std::make_unique<Policy>(std::move(created));
  const uint32_t fixed = made->slots();
  made->slots_.resize(fixed + shared);
  // In this order the lowest number is taken first.
  for (uint32_t slot = made->slots(); slot > fixed; --slot) made->free_.push_back(slot - 1);
  return made;
}

void Tier::lease(uint32_t slot) {
  Slot& leased = slots_[slot];
  ++leased.leases;
  evictable_[leased.key / 64] &= ~(uint64_t{1} << (leased.key % 64));
}

void Tier::make_ready(uint32_t slot) {
  Slot& made = slots_[slot];
  made.ready = true;
  if (made.leases > 0 || made.fixed) return;
  evictable_[made.key / 64] |= uint64_t{1} << (made.key % 64);
}

Status Tier::begin(Stay& stay, uint64_t step, uint32_t layer, std::span<const int32_t> experts) {
  end(stay);
  const std::lock_guard lock(mutex_);
  if (++visits_ == kStepsOfAge * shape_.layers) {
    visits_ = 0;
    for (uint32_t& uses : recent_) uses /= 2;
  }
  for (const int32_t expert : experts) {
    const auto number = static_cast<uint32_t>(expert);
    const uint32_t key = layer * shape_.experts + number;
    const uint32_t slot = slot_of_key_[key];
    const bool there = slot != kAbsent && slots_[slot].ready;
    ++uses_[key];
    ++recent_[key];
    stay.keys.push_back(key);
    stay.resident.push_back(there ? 1 : 0);
    ++(there ? counters_.hits : counters_.misses);
    if (there) {
      lease(slot);
      stay.there.push_back({number, slot});
    } else {
      stay.elsewhere.push_back(expert);
    }
  }
  if (places_[layer] != ExpertPlace::kBoth) return {};
  policy_->on_access(step, stay.keys, stay.resident.data());
  return claim(stay, layer);
}

Status Tier::claim(Stay& stay, uint32_t layer) {
  for (const int32_t expert : stay.elsewhere) {
    if (free_.empty() || filled_[layer] == share_) break;
    const auto number = static_cast<uint32_t>(expert);
    if (slot_of_key_[layer * shape_.experts + number] != kAbsent) continue;
    ++filled_[layer];
    occupy(stay, layer, number);
  }
  const bool full = free_.empty() || filled_[layer] == share_;
  return full && stay.coming.empty() ? exchange(stay, layer) : Status();
}

Status Tier::exchange(Stay& stay, uint32_t layer) {
  const uint32_t first = layer * shape_.experts;
  uint32_t wanted = kAbsent;
  for (const int32_t expert : stay.elsewhere) {
    const auto number = static_cast<uint32_t>(expert);
    if (slot_of_key_[first + number] != kAbsent) continue;  // another visitor brings it
    if (wanted == kAbsent || recent_[first + number] > recent_[first + wanted]) wanted = number;
  }
  if (wanted == kAbsent ||
      std::all_of(evictable_.begin(), evictable_.end(), [](uint64_t word) { return word == 0; })) {
    return {};
  }
  // Asking changes nothing in the policy.
  COLIBRI_ASSIGN(const std::optional<uint32_t> victim, policy_->victim(evictable_));
  if (!victim || recent_[first + wanted] <= recent_[*victim]) return {};
  policy_->on_evict(*victim);
  ++counters_.evictions;
  vacate(slot_of_key_[*victim]);
  occupy(stay, layer, wanted);
  return {};
}

void Tier::occupy(Stay& stay, uint32_t layer, uint32_t expert) {
  const uint32_t slot = free_.back();
  free_.pop_back();
  const uint32_t key = layer * shape_.experts + expert;
  slots_[slot] = {key, 0, false, false};
  slot_of_key_[key] = slot;
  policy_->on_insert(key);
  stay.coming.push_back({expert, slot});
  stay.copied.push_back(0);
}

void Tier::vacate(uint32_t slot) {
  const uint32_t key = slots_[slot].key;
  evictable_[key / 64] &= ~(uint64_t{1} << (key % 64));
  slot_of_key_[key] = kAbsent;
  slots_[slot] = {};
  free_.push_back(slot);
}

void Tier::end(Stay& stay) {
  if (!stay.keys.empty()) {
    const std::lock_guard lock(mutex_);
    for (const Stay::Place& place : stay.there) {
      --slots_[place.slot].leases;
      make_ready(place.slot);
    }
    for (size_t i = 0; i < stay.coming.size(); ++i) {
      Slot& slot = slots_[stay.coming[i].slot];
      if (stay.copied[i] != 0) {
        make_ready(stay.coming[i].slot);
        ++counters_.loads;
      } else {
        uint32_t& filled = filled_[slot.key / shape_.experts];
        if (filled > 0) --filled;
        policy_->on_evict(slot.key);
        vacate(stay.coming[i].slot);
      }
    }
  }
  stay.there.clear();
  stay.elsewhere.clear();
  stay.coming.clear();
  stay.copied.clear();
  stay.keys.clear();
  stay.resident.clear();
}

bool Tier::has(uint32_t layer, uint32_t expert) const {
  const std::lock_guard lock(mutex_);
  return slot_of_key_[layer * shape_.experts + expert] != kAbsent;
}

Counters Tier::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::vector<uint64_t> Tier::uses() const {
  const std::lock_guard lock(mutex_);
  return uses_;
}

}  // namespace colibri::experts
