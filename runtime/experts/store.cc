// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/store.h"

#include <algorithm>
#include <utility>

namespace colibri::experts {

Result<std::unique_ptr<Store>> Store::create(const StoreShape& shape, uint64_t budget_bytes,
                                             PolicyPlugin policy, Load load) {
  if (budget_bytes < shape.floor_bytes()) {
    return invalid_argument("experts.budget: " + std::to_string(budget_bytes) + " bytes (" +
                            human_bytes(budget_bytes) + ") are below the floor of two experts, " +
                            std::to_string(shape.floor_bytes()) + " bytes (" +
                            human_bytes(shape.floor_bytes()) + "); raise it");
  }
  std::unique_ptr<Store> store(new Store(shape, std::move(load)));
  const uint64_t slots = shape.slots_in(budget_bytes);
  COLIBRI_ASSIGN(store->arena_,
                 Memory::allocate(slots * shape.slot_bytes, "the expert arena (experts.budget)"));
  COLIBRI_ASSIGN(store->residency_, Residency::create(shape, slots, std::move(policy)));
  return store;
}

uint64_t Store::next_step() {
  const std::lock_guard lock(mutex_);
  return step_++;
}

Counters Store::counters() const {
  const std::lock_guard lock(mutex_);
  return residency_->counters();
}

std::vector<uint64_t> Store::uses() const {
  const std::lock_guard lock(mutex_);
  const std::span<const uint64_t> uses = residency_->uses();
  return {uses.begin(), uses.end()};
}

Status Store::load_all(ThreadPool& pool) {
  if (!holds_all()) return internal_error("load_all() on a store that does not hold all experts");
  COLIBRI_ASSIGN(const auto visit, Visit::create(*this, pool.threads()));
  std::vector<int32_t> experts(shape_.experts);
  for (uint32_t i = 0; i < shape_.experts; ++i) experts[i] = static_cast<int32_t>(i);
  const uint64_t step = next_step();
  for (uint32_t layer = 0; layer < shape_.layers; ++layer) {
    visit->begin(step, layer, experts);
    for (;;) {
      COLIBRI_ASSIGN(const auto wave, visit->next(pool, pool.threads()));
      if (wave.empty()) break;
    }
  }
  const std::lock_guard lock(mutex_);
  residency_->forget_counters();
  return {};
}

Result<std::unique_ptr<Visit>> Visit::create(Store& store, unsigned threads) {
  std::unique_ptr<Visit> visit(new Visit(store));
  COLIBRI_ASSIGN(visit->staging_,
                 Memory::allocate(threads * store.shape().staging_bytes, "reading experts"));
  return visit;
}

Visit::Visit(Store& store) : store_(store), demand_(store.shape()) {
  wave_.reserve(store.shape().experts);
}

void Visit::begin(uint64_t step, uint32_t layer, std::span<const int32_t> experts) {
  end();
  layer_ = layer;
  const std::lock_guard lock(store_.mutex_);
  store_.residency_->begin(demand_, step, layer, experts);
}

void Visit::end() {
  wave_.clear();
  if (demand_.held.empty() && demand_.missing.empty()) return;
  bool leases_ended = false;
  {
    const std::lock_guard lock(store_.mutex_);
    leases_ended = store_.residency_->end(demand_);
  }
  if (leases_ended) store_.changed_.notify_all();
}

Result<std::span<const Visit::Lease>> Visit::next(ThreadPool& pool, unsigned threads) {
  wave_.clear();
  {
    std::unique_lock lock(store_.mutex_);
    Residency& residency = *store_.residency_;
    if (residency.end_wave(demand_)) store_.changed_.notify_all();
    for (;;) {
      if (Status status = residency.take_wave(demand_); !status.ok()) {
        store_.changed_.notify_all();
        return status;
      }
      if (!demand_.held.empty() || demand_.missing.empty()) break;
      store_.changed_.wait(lock);
    }
    for (const int32_t slot : demand_.held) {
      wave_.push_back({residency.key_in(slot) % store_.shape_.experts, store_.data(slot)});
    }
  }
  if (!demand_.claimed.empty()) {
    if (Status status = load_claimed(pool, threads); !status.ok()) {
      end();
      return status;
    }
  }
  return std::span<const Lease>(wave_);
}

Status Visit::load_claimed(ThreadPool& pool, unsigned threads) {
  Status failure;
  std::mutex failure_mutex;
  const auto slots = static_cast<int64_t>(demand_.claimed.size());
  const colibri_status code =
      pool.run(slots, threads, [&](unsigned worker, int64_t begin, int64_t end) -> colibri_status {
        std::byte* staging = staging_.data() + worker * store_.shape_.staging_bytes;
        for (int64_t i = begin; i < end; ++i) {
          const int32_t slot = demand_.claimed[static_cast<size_t>(i)];
          // A claimed slot is this visit's alone: its key needs no lock.
          const uint32_t expert = store_.residency_->key_in(slot) % store_.shape_.experts;
          Status status = store_.load_(layer_, expert, store_.data(slot), staging);
          if (status.ok()) continue;
          const std::lock_guard lock(failure_mutex);
          if (failure.ok()) failure = std::move(status);
          return failure.code();
        }
        return COLIBRI_OK;
      });
  {
    const std::lock_guard lock(store_.mutex_);
    if (code == COLIBRI_OK) {
      store_.residency_->loaded(demand_);
    } else {
      // Which of them were filled is not known: none counts as loaded.
      store_.residency_->failed(demand_);
    }
  }
  store_.changed_.notify_all();
  return failure;
}

}  // namespace colibri::experts
