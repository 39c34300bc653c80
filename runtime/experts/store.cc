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
  const uint64_t slots = std::min(budget_bytes / shape.slot_bytes, shape.keys());
  COLIBRI_ASSIGN(store->arena_,
                 Memory::allocate(slots * shape.slot_bytes, "the expert arena (experts.budget)"));
  store->slots_.resize(slots);
  for (uint64_t i = 0; i < slots; ++i) {
    store->slots_[i].data = store->arena_.data() + i * shape.slot_bytes;
  }
  store->slot_of_key_.assign(shape.keys(), kAbsent);
  store->evictable_.assign((shape.keys() + 63) / 64, 0);
  uint64_t ruled = slots;
  if (slots < shape.keys()) store->passage_ = static_cast<int32_t>(--ruled);
  store->free_.reserve(ruled);
  for (uint64_t i = ruled; i > 0; --i) store->free_.push_back(static_cast<int32_t>(i - 1));
  COLIBRI_ASSIGN(store->policy_, Policy::create(std::move(policy), shape.layers, shape.experts,
                                                shape.top_k, static_cast<uint32_t>(ruled)));
  return store;
}

uint64_t Store::next_step() {
  const std::lock_guard lock(mutex_);
  return step_++;
}

Counters Store::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void Store::lease(int32_t slot) {
  Slot& held = slots_[static_cast<size_t>(slot)];
  ++held.leases;
  evictable_[held.key / 64] &= ~(uint64_t{1} << (held.key % 64));
}

void Store::release(int32_t slot) {
  Slot& held = slots_[static_cast<size_t>(slot)];
  if (--held.leases > 0) return;
  if (is_passage(slot)) {
    vacate(slot);
  } else if (held.ready) {
    evictable_[held.key / 64] |= uint64_t{1} << (held.key % 64);
  }
}

void Store::occupy(int32_t slot, uint32_t key) {
  Slot& taken = slots_[static_cast<size_t>(slot)];
  taken.key = key;
  taken.ready = false;
  slot_of_key_[key] = slot;
  lease(slot);
}

void Store::vacate(int32_t slot) {
  Slot& left = slots_[static_cast<size_t>(slot)];
  left.ready = false;
  left.leases = 0;
  slot_of_key_[left.key] = kAbsent;
  evictable_[left.key / 64] &= ~(uint64_t{1} << (left.key % 64));
  if (!is_passage(slot)) free_.push_back(slot);
}

Result<int32_t> Store::claim(uint32_t key) {
  if (free_.empty()) {
    const bool any =
        std::any_of(evictable_.begin(), evictable_.end(), [](uint64_t word) { return word != 0; });
    // Everything is in use: a slot comes free when a visitor moves on.
    if (!any) return kAbsent;
    COLIBRI_ASSIGN(const std::optional<uint32_t> victim, policy_->victim(evictable_));
    if (!victim) {
      const bool passage_free = slots_[static_cast<size_t>(passage_)].leases == 0;
      if (!passage_free) return kAbsent;
      occupy(passage_, key);
      return passage_;
    }
    policy_->on_evict(*victim);
    ++counters_.evictions;
    vacate(slot_of_key_[*victim]);
  }
  const int32_t slot = free_.back();
  free_.pop_back();
  occupy(slot, key);
  return slot;
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
  counters_ = {};
  return {};
}

Result<std::unique_ptr<Visit>> Visit::create(Store& store, unsigned threads) {
  std::unique_ptr<Visit> visit(new Visit(store));
  COLIBRI_ASSIGN(visit->staging_,
                 Memory::allocate(threads * store.shape().staging_bytes, "reading experts"));
  return visit;
}

Visit::Visit(Store& store) : store_(store) {
  const size_t most = store.shape().experts;
  keys_.reserve(most);
  resident_.reserve(most);
  missing_.reserve(most);
  held_.reserve(most);
  claimed_.reserve(most);
  wave_.reserve(most);
}

void Visit::begin(uint64_t step, uint32_t layer, std::span<const int32_t> experts) {
  end();
  layer_ = layer;
  keys_.clear();
  resident_.clear();
  const std::lock_guard lock(store_.mutex_);
  for (const int32_t expert : experts) {
    const uint32_t key = layer * store_.shape_.experts + static_cast<uint32_t>(expert);
    const int32_t slot = store_.slot_of_key_[key];
    const bool hit = slot != Store::kAbsent && store_.slots_[static_cast<size_t>(slot)].ready;
    keys_.push_back(key);
    resident_.push_back(hit ? 1 : 0);
    if (hit) {
      store_.lease(slot);
      held_.push_back(slot);
    } else {
      missing_.push_back(key);
    }
  }
  hits_pending_ = !held_.empty();
  store_.counters_.hits += held_.size();
  store_.counters_.misses += missing_.size();
  store_.policy_->on_access(step, keys_, resident_.data());
}

void Visit::end() {
  missing_.clear();
  wave_.clear();
  hits_pending_ = false;
  if (held_.empty()) return;
  {
    const std::lock_guard lock(store_.mutex_);
    for (const int32_t slot : held_) store_.release(slot);
  }
  held_.clear();
  store_.changed_.notify_all();
}

Result<std::span<const Visit::Lease>> Visit::next(ThreadPool& pool, unsigned threads) {
  std::unique_lock lock(store_.mutex_);
  if (!hits_pending_) {
    for (const int32_t slot : held_) store_.release(slot);
    if (!held_.empty()) store_.changed_.notify_all();
    held_.clear();
    claimed_.clear();
    while (!missing_.empty()) {
      size_t left = 0;
      for (const uint32_t key : missing_) {
        int32_t slot = store_.slot_of_key_[key];
        if (slot == Store::kAbsent) {
          auto claim = store_.claim(key);
          if (!claim.ok()) {
            for (const int32_t taken : claimed_) store_.vacate(taken);
            std::erase_if(held_, [&](int32_t taken) {
              return std::find(claimed_.begin(), claimed_.end(), taken) != claimed_.end();
            });
            lock.unlock();
            end();
            return claim.status();
          }
          slot = *claim;
          if (slot != Store::kAbsent) claimed_.push_back(slot);
        } else if (store_.slots_[static_cast<size_t>(slot)].ready) {
          store_.lease(slot);
        } else {
          slot = Store::kAbsent;  // another visitor is loading it
        }
        if (slot != Store::kAbsent) {
          held_.push_back(slot);
        } else {
          missing_[left++] = key;
        }
      }
      missing_.resize(left);
      if (!held_.empty()) break;
      store_.changed_.wait(lock);
    }
  }
  hits_pending_ = false;
  wave_.clear();
  for (const int32_t slot : held_) {
    const Store::Slot& held = store_.slots_[static_cast<size_t>(slot)];
    wave_.push_back({held.key % store_.shape_.experts, held.data});
  }
  lock.unlock();
  if (!claimed_.empty()) {
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
  const auto slots = static_cast<int64_t>(claimed_.size());
  const colibri_status code =
      pool.run(slots, threads, [&](unsigned worker, int64_t begin, int64_t end) -> colibri_status {
        std::byte* staging = staging_.data() + worker * store_.shape_.staging_bytes;
        for (int64_t i = begin; i < end; ++i) {
          const int32_t index = claimed_[static_cast<size_t>(i)];
          const Store::Slot& slot = store_.slots_[static_cast<size_t>(index)];
          Status status =
              store_.load_(layer_, slot.key % store_.shape_.experts, slot.data, staging);
          if (status.ok()) continue;
          const std::lock_guard lock(failure_mutex);
          if (failure.ok()) failure = std::move(status);
          return failure.code();
        }
        return COLIBRI_OK;
      });
  {
    const std::lock_guard lock(store_.mutex_);
    for (const int32_t index : claimed_) {
      Store::Slot& slot = store_.slots_[static_cast<size_t>(index)];
      if (code != COLIBRI_OK) {
        // Which of them were filled is not known: none counts as loaded.
        std::erase(held_, index);
        store_.vacate(index);
        continue;
      }
      slot.ready = true;
      ++store_.counters_.loads;
      if (!store_.is_passage(index)) store_.policy_->on_insert(slot.key);
    }
  }
  claimed_.clear();
  store_.changed_.notify_all();
  return failure;
}

}  // namespace colibri::experts
