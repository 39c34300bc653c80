// SPDX-License-Identifier: Apache-2.0
// Slots of the passage that are lent to a visitor's next visit.
#include <algorithm>

#include "runtime/experts/residency.h"

namespace colibri::experts {

void Residency::lend(Demand& demand, uint32_t layer, size_t most) {
  if (!demand.guarded || !demand.missing.empty()) return;
  uint32_t key = demand.ahead.empty() ? layer * shape_.experts : key_in(demand.ahead.back()) + 1;
  most = std::min(most, kMostAhead - demand.ahead.size());
  for (; most > 0 && key < (layer + 1) * shape_.experts && !free_passage_.empty(); ++key) {
    if (slot_of_key_[key] != kAbsent) continue;
    const int32_t slot = free_passage_.back();
    free_passage_.pop_back();
    at(slot).key = key;
    demand.ahead.push_back(slot);
    ++counters_.ahead;
    --most;
  }
}

int32_t Residency::lent_for(uint32_t key, Demand& demand) {
  if (demand.ahead.empty() || key_in(demand.ahead.front()) != key) return kAbsent;
  const int32_t slot = demand.ahead.front();
  demand.ahead.erase(demand.ahead.begin());
  return slot;
}

void Residency::find_useful(const Demand& demand, uint32_t layer,
                            std::span<const int32_t> experts) {
  settle();  // now, so that nobody leaves between this answer and the visit
  useful_.clear();
  if (!guards(experts.size())) return;
  auto next = demand.ahead.begin();
  for (const int32_t expert : experts) {
    const uint32_t key = layer * shape_.experts + static_cast<uint32_t>(expert);
    if (slot_of_key_[key] != kAbsent) continue;
    while (next != demand.ahead.end() && key_in(*next) < key) ++next;  // nobody asks for it
    if (next == demand.ahead.end() || key_in(*next) != key) return;
    useful_.push_back(*next++);
  }
}

bool Residency::foreseen(const Demand& demand, uint32_t layer, std::span<const int32_t> experts) {
  if (demand.ahead.empty()) return true;
  find_useful(demand, layer, experts);
  return useful_.size() == demand.ahead.size();
}

void Residency::keep_foreseen(Demand& demand, uint32_t layer, std::span<const int32_t> experts) {
  find_useful(demand, layer, experts);
  for (size_t i = demand.ahead.size(); i-- > 0;) {
    if (std::find(useful_.begin(), useful_.end(), demand.ahead[i]) == useful_.end()) {
      take_back(demand, i);
    }
  }
}

void Residency::take_back(Demand& demand, size_t i) {
  free_passage_.push_back(demand.ahead[i]);
  demand.ahead.erase(demand.ahead.begin() + static_cast<std::ptrdiff_t>(i));
  ++counters_.ahead_unused;
  settle();
}

void Residency::take_back_all(Demand& demand) {
  while (!demand.ahead.empty()) take_back(demand, demand.ahead.size() - 1);
}

}  // namespace colibri::experts
