// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/store.h"

#include <algorithm>
#include <utility>

namespace colibri::experts {

static_assert(Residency::kMostClaimed <= LoadQueue::kMost);

Status Store::check_budget(uint64_t bytes) const {
  if (bytes >= shape_.floor_bytes()) return {};
  return invalid_argument("experts.budget: " + std::to_string(bytes) + " bytes (" +
                          human_bytes(bytes) + ") are below the floor of two experts, " +
                          std::to_string(shape_.floor_bytes()) + " bytes (" +
                          human_bytes(shape_.floor_bytes()) + "); raise it");
}

Result<std::unique_ptr<Store>> Store::create(const StoreShape& shape, uint64_t budget_bytes,
                                             PolicyPlugin policy,
                                             std::unique_ptr<ExpertSource> source,
                                             Reading reading) {
  std::unique_ptr<Store> store(new Store(shape, std::move(source), reading));
  if (shape.slot_bytes % kDirectAlignment != 0) {
    return internal_error("slots of " + std::to_string(shape.slot_bytes) +
                          " bytes are not aligned");
  }
  COLIBRI_TRY(store->check_budget(budget_bytes));
  const uint64_t slots = shape.slots_in(budget_bytes);
  COLIBRI_TRY(store->grow(slots));
  COLIBRI_ASSIGN(store->residency_, Residency::create(shape, slots, std::move(policy)));
  if (reading.ring) return store;
  Loaders& loaders = store->loaders_;
  loaders.staging_bytes = shape.staging_bytes;
  COLIBRI_ASSIGN(loaders.staging,
                 Memory::allocate(reading.depth * shape.staging_bytes, "reading experts"));
  COLIBRI_ASSIGN(loaders.workers, io::Workers::create(reading.depth));
  return store;
}

Status Store::grow(uint64_t slots) {
  uint64_t have = 0;
  for (const Part& part : arena_) have += part.memory.size() / shape_.slot_bytes;
  if (slots <= have) return {};
  COLIBRI_ASSIGN(Memory memory, Memory::allocate((slots - have) * shape_.slot_bytes,
                                                 "the expert arena (experts.budget)"));
  arena_.push_back({static_cast<int32_t>(have), std::move(memory)});
  return {};
}

std::byte* Store::data(int32_t slot) const {
  auto part = arena_.rbegin();
  while (part->first > slot) ++part;
  return part->memory.data() + static_cast<uint64_t>(slot - part->first) * shape_.slot_bytes;
}

void Store::give_back() {
  for (const int32_t slot : residency_->withdrawn()) {
    Memory::give_back(data(slot), shape_.slot_bytes);
  }
}

Status Store::set_budget(uint64_t bytes) {
  COLIBRI_TRY(check_budget(bytes));
  {
    const std::lock_guard lock(mutex_);
    const uint64_t slots = shape_.slots_in(bytes);
    COLIBRI_TRY(grow(slots));
    COLIBRI_TRY(residency_->resize(slots));
    give_back();
  }
  changed_.notify_all();
  return {};
}

uint32_t Store::slots() const {
  const std::lock_guard lock(mutex_);
  return residency_->slots();
}

bool Store::holds_all() const {
  const std::lock_guard lock(mutex_);
  return residency_->holds_all();
}

uint64_t Store::next_step() {
  const std::lock_guard lock(mutex_);
  return step_++;
}

Counters Store::counters() const {
  const std::lock_guard lock(mutex_);
  return residency_->counters();
}

Times Store::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

std::vector<uint64_t> Store::uses() const {
  const std::lock_guard lock(mutex_);
  const std::span<const uint64_t> uses = residency_->uses();
  return {uses.begin(), uses.end()};
}

Status Store::load_all(ThreadPool& pool) {
  if (!holds_all()) return internal_error("load_all() on a store that does not hold all experts");
  COLIBRI_ASSIGN(const auto visit, Visit::create(*this));
  std::vector<int32_t> experts(shape_.experts);
  for (uint32_t i = 0; i < shape_.experts; ++i) experts[i] = static_cast<int32_t>(i);
  const uint64_t step = next_step();
  for (uint32_t layer = 0; layer < shape_.layers; ++layer) {
    COLIBRI_TRY(visit->begin(step, layer, experts));
    for (;;) {
      COLIBRI_ASSIGN(const auto wave, visit->next(pool, pool.threads()));
      if (wave.empty()) break;
    }
  }
  const std::lock_guard lock(mutex_);
  residency_->forget_counters();
  times_ = {};
  return {};
}

}  // namespace colibri::experts
