// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/store.h"

#include <algorithm>
#include <utility>

namespace colibri::experts {

static_assert(Residency::kMostClaimed <= LoadQueue::kMost);

Status StoreShape::check_budget(uint64_t bytes) const {
  if (bytes >= floor_bytes()) return {};
  const std::string besides =
      ahead == 0 ? "" : " and the " + std::to_string(ahead) + " that are read ahead";
  return invalid_argument(std::to_string(bytes) + " bytes (" + human_bytes(bytes) +
                          ") are below the floor of two experts" + besides + ", " +
                          std::to_string(floor_bytes()) + " bytes (" + human_bytes(floor_bytes()) +
                          "); raise it");
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
  if (Status status = shape.check_budget(budget_bytes); !status.ok()) {
    return status.at("experts.budget");
  }
  if (!reading.ring) {
    Loaders& loaders = store->loaders_;
    loaders.staging_bytes = shape.staging_bytes;
    COLIBRI_ASSIGN(loaders.staging,
                   Memory::allocate(reading.depth * shape.staging_bytes, "reading experts"));
    COLIBRI_ASSIGN(loaders.workers, io::Workers::create(reading.depth));
  }
  const uint64_t slots = shape.slots_in(budget_bytes);
  COLIBRI_TRY(store->grow(slots));
  COLIBRI_ASSIGN(store->residency_, Residency::create(shape, slots, std::move(policy)));
  return store;
}

Result<std::unique_ptr<LoadQueue>> Store::create_queue(unsigned depth) {
  if (reading_.ring) return LoadQueue::on_ring(*source_, depth);
  return LoadQueue::on_workers(*source_, loaders_);
}

Status Store::grow(uint64_t slots) {
  if (shape_.ahead > 0 && ahead_ == nullptr && slots < shape_.keys()) {
    std::vector<std::unique_ptr<LoadQueue>> queues(shape_.ahead);
    for (auto& queue : queues) {
      COLIBRI_ASSIGN(queue, create_queue(1));
    }
    COLIBRI_ASSIGN(ahead_, ReadAhead::create(shape_.slot_bytes, std::move(queues)));
  }
  const uint64_t have = memory_of_.size();
  if (slots <= have) return {};
  memory_of_.reserve(slots);
  arena_.reserve(arena_.size() + 1);
  COLIBRI_ASSIGN(Memory memory, Memory::allocate((slots - have) * shape_.slot_bytes,
                                                 "the expert arena (experts.budget)"));
  for (uint64_t i = 0; i < slots - have; ++i) {
    memory_of_.push_back(memory.data() + i * shape_.slot_bytes);
  }
  arena_.push_back(std::move(memory));
  return {};
}

void Store::give_back() {
  for (const int32_t slot : residency_->withdrawn()) {
    Memory::give_back(memory_of(slot), shape_.slot_bytes);
  }
}

Status Store::set_budget(uint64_t bytes) {
  if (Status status = shape_.check_budget(bytes); !status.ok()) return status.at("experts.budget");
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
  Counters counters = residency_->counters();
  if (ahead_ == nullptr) return counters;
  counters.ahead = ahead_->reads();
  counters.ahead_used = ahead_->taken();
  return counters;
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
