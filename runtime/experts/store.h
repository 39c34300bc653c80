// SPDX-License-Identifier: Apache-2.0
// The expert store: one byte budget over all layers, cut into slots that hold one expert each.
//
// A slot is empty, loading, ready, or ready and leased. A leased or loading slot is never a victim.
// What is in which slot is decided by Residency; here are the memory, the loads and the lock. A part
// of the budget may be for experts that are read ahead of being asked for (ReadAhead).
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/experts/load_queue.h"
#include "runtime/experts/policy.h"
#include "runtime/experts/read_ahead.h"
#include "runtime/experts/residency.h"
#include "runtime/experts/source.h"

namespace colibri::experts {

struct StoreShape : RoutingShape {
  uint64_t slot_bytes = 0;     // of the largest expert bundle, a multiple of kDirectAlignment
  uint64_t staging_bytes = 0;  // memory that loading an expert works in, per worker
  uint32_t ahead = 0;          // experts read ahead at once, unless all are in memory

  uint64_t all_bytes() const { return keys() * slot_bytes; }
  // One expert computing, one loading: the least that works.
  uint64_t floor_bytes() const { return std::min((2 + ahead) * slot_bytes, all_bytes()); }
  // Of a budget that is not below the floor.
  uint64_t slots_in(uint64_t budget_bytes) const {
    const uint64_t room = budget_bytes / slot_bytes;
    return room >= keys() ? keys() : room - ahead;
  }
  // COLIBRI_INVALID_ARGUMENT, with the numbers, for a budget below the floor.
  Status check_budget(uint64_t bytes) const;
};

// How experts are read.
struct Reading {
  bool ring = false;   // by io_uring, which the source must allow; else by threads
  unsigned depth = 1;  // reads on their way at once: of each visitor, or threads of the store
};

// Time that visitors spent, summed over them.
struct Times {
  std::chrono::nanoseconds leasing{};  // on leases, claims and starting reads
  std::chrono::nanoseconds waiting{};  // until an expert had been read and checked
};

class Visit;

// Thread-safe: contexts that share a model share its store.
class Store {
 public:
  // Refuses a budget below the floor, with the numbers.
  static Result<std::unique_ptr<Store>> create(const StoreShape& shape, uint64_t budget_bytes,
                                               PolicyPlugin policy,
                                               std::unique_ptr<ExpertSource> source,
                                               Reading reading);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const StoreShape& shape() const { return shape_; }
  uint32_t slots() const;
  bool holds_all() const;
  // Loads every expert now, so that faults of the model show before the first token; only if it
  // holds all of them.
  Status load_all(ThreadPool& pool);
  // Another budget from now on, for visits in progress, too: experts that are in use leave when
  // they have computed. Refuses one below the floor; a failure leaves the old one. Never changes
  // what is computed.
  Status set_budget(uint64_t bytes);
  // A number for the next pass over the layers, ascending.
  uint64_t next_step();
  Counters counters() const;
  Times times() const;
  // Per key (layer * experts + expert): the visits that asked for it.
  std::vector<uint64_t> uses() const;

 private:
  friend class Visit;
  Store(const StoreShape& shape, std::unique_ptr<ExpertSource> source, Reading reading)
      : shape_(shape), source_(std::move(source)), reading_(reading) {}
  Result<std::unique_ptr<LoadQueue>> create_queue(unsigned depth);
  // Memory for slots up to this number, and for what is read ahead where they do not hold all.
  Status grow(uint64_t slots);
  // With the lock:
  std::byte*& memory_of(int32_t slot) { return memory_of_[static_cast<size_t>(slot)]; }
  void give_back();

  const StoreShape shape_;
  const std::unique_ptr<ExpertSource> source_;
  const Reading reading_;
  Loaders loaders_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a lease ended, a load finished, or there are other slots
  std::vector<Memory> arena_;
  std::vector<std::byte*> memory_of_;  // by slot
  std::unique_ptr<ReadAhead> ahead_;   // null = nothing is read ahead
  uint32_t reads_ = 0;                 // of visitors, on their way
  std::optional<Residency> residency_;
  Times times_;
  uint64_t step_ = 0;
};

// The experts that one layer of one step needs: first those that are there, then the missing ones as
// they arrive, whose reads go on while others compute. A visitor waits for other visitors only while
// it holds no lease and has no read on its way, so visitors cannot block each other for ever. Used
// by one thread.
class Visit {
 public:
  struct Lease {
    uint32_t expert = 0;
    const std::byte* data = nullptr;  // the bundle, until the next call
  };

  // After this nothing is allocated.
  static Result<std::unique_ptr<Visit>> create(Store& store);
  ~Visit() { end(); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // Starts with distinct experts, ascending. Ends a visit in progress.
  Status begin(uint64_t step, uint32_t layer, std::span<const int32_t> experts);
  // Ends the leases that the last call gave and gives some more; none when every expert had its
  // turn. What arrived is checked on the pool's threads. An error ends the visit; the store stays
  // usable.
  Result<std::span<const Lease>> next(ThreadPool& pool, unsigned threads);
  void end();

  // Whether it is worth a guess which experts will be asked for next: something is read ahead.
  bool guesses() const { return guesses_; }
  // After begin(): what another layer is likely to ask for, distinct, the likeliest first. As many
  // as there is memory for are read when no visitor waits for the disk. Nothing if !guesses().
  void expect(uint32_t layer, std::span<const int32_t> experts);

 private:
  using Clock = std::chrono::steady_clock;

  Visit(Store& store, std::unique_ptr<LoadQueue> queue);
  struct OnWay : Load {
    ReadAhead::Block* ahead = nullptr;  // whose read it is; null = one in the queue
    bool settled = false;
  };
  LoadQueue& queue_of(const OnWay& load) const {
    return load.ahead == nullptr ? *queue_ : *load.ahead->queue;
  }
  // Waits for the first of the loads on their way, and says how many have arrived.
  Result<size_t> take_arrived();
  Status check(size_t arrived, ThreadPool& pool, unsigned threads) const;
  // Starts reading what is expected, if no read of a visitor is on its way.
  void read_ahead();
  // Takes down what is in progress and gives the status on.
  Status fail(Status status);
  // With the lock:
  void list_held();
  void start_claimed();
  // The first n on their way need neither the disk nor a block any more.
  void settle_arrived(size_t n);
  // Waits until something can be done for what is missing.
  Status wait_for_others(std::unique_lock<std::mutex>& lock);

  Store& store_;
  const std::unique_ptr<LoadQueue> queue_;
  uint32_t layer_ = 0;
  Demand demand_;
  std::vector<OnWay> on_way_;  // of demand_.loading, those whose reads were started
  std::vector<Lease> wave_;
  bool fresh_ = false;  // the wave of begin() was not given yet
  bool guesses_ = false;
  uint32_t expected_layer_ = 0;
  std::vector<int32_t> expected_;  // and not read yet
};

}  // namespace colibri::experts
