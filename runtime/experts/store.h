// SPDX-License-Identifier: Apache-2.0
// The expert store: one byte budget over all layers, cut into slots that hold one expert each.
//
// A slot is empty, loading, ready, or ready and leased. A leased or loading slot is never a victim.
// What is in which slot is decided by Residency; here are the memory, the loads and the lock.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/experts/policy.h"
#include "runtime/experts/residency.h"

namespace colibri::experts {

struct StoreShape : RoutingShape {
  uint64_t slot_bytes = 0;     // of the largest expert bundle, a multiple of kAlignment
  uint64_t staging_bytes = 0;  // memory that loading an expert works in, per thread

  uint64_t all_bytes() const { return keys() * slot_bytes; }
  // One expert computing, one loading: the least that works.
  uint64_t floor_bytes() const { return std::min(2 * slot_bytes, all_bytes()); }
  uint64_t slots_in(uint64_t budget_bytes) const {
    return std::min(budget_bytes / slot_bytes, keys());
  }
};

class Visit;

// Thread-safe: contexts that share a model share its store.
class Store {
 public:
  // Fills a slot with an expert's bundle. Called by workers in parallel, each with staging memory
  // of its own.
  using Load =
      std::function<Status(uint32_t layer, uint32_t expert, std::byte* slot, std::byte* staging)>;

  // Refuses a budget below the floor, with the numbers.
  static Result<std::unique_ptr<Store>> create(const StoreShape& shape, uint64_t budget_bytes,
                                               PolicyPlugin policy, Load load);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const StoreShape& shape() const { return shape_; }
  uint32_t slots() const { return residency_->slots(); }
  bool holds_all() const { return residency_->holds_all(); }
  // Loads every expert now, so that faults of the model show before the first token; only if it
  // holds all of them.
  Status load_all(ThreadPool& pool);
  // A number for the next pass over the layers, ascending.
  uint64_t next_step();
  Counters counters() const;
  // Per key (layer * experts + expert): the visits that asked for it.
  std::vector<uint64_t> uses() const;

 private:
  friend class Visit;

  Store(const StoreShape& shape, Load load) : shape_(shape), load_(std::move(load)) {}
  std::byte* data(int32_t slot) const {
    return arena_.data() + static_cast<uint64_t>(slot) * shape_.slot_bytes;
  }

  const StoreShape shape_;
  const Load load_;
  Memory arena_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a lease ended or a load finished
  std::optional<Residency> residency_;
  uint64_t step_ = 0;
};

// The experts that one layer of one step needs, in waves: those that are there first, then, as
// slots can be had, the missing ones. A visitor holds the leases of one wave only and never waits
// while it holds any, so visitors cannot block each other for ever. Used by one thread.
class Visit {
 public:
  struct Lease {
    uint32_t expert = 0;
    const std::byte* data = nullptr;  // the bundle, until the next call
  };

  // For visits on pools of up to `threads` threads. After this nothing is allocated.
  static Result<std::unique_ptr<Visit>> create(Store& store, unsigned threads);
  ~Visit() { end(); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // Starts with distinct experts, ascending. Ends a visit in progress.
  void begin(uint64_t step, uint32_t layer, std::span<const int32_t> experts);
  // Ends the leases of the last wave and gives the next one, loading on the pool's threads; empty
  // when every expert had its turn. An error ends the visit; the store stays usable.
  Result<std::span<const Lease>> next(ThreadPool& pool, unsigned threads);
  void end();

 private:
  explicit Visit(Store& store);
  Status load_claimed(ThreadPool& pool, unsigned threads);

  Store& store_;
  Memory staging_;
  uint32_t layer_ = 0;
  Demand demand_;
  std::vector<Lease> wave_;
};

}  // namespace colibri::experts
