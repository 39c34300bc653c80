// SPDX-License-Identifier: Apache-2.0
// Residency: which experts are in which slots, which of them go when others come, and what was hit:
// every decision of the expert store, without its memory. The store calls it with its lock held;
// `colibri cache replay` calls it with a recorded trace. So a replay decides what the store would.
//
// With a slot for every expert nothing is ever dropped. Otherwise the cache policy rules over all
// slots but the passage: an expert that is not admitted is loaded into a slot of the passage and
// leaves with its last lease.
//
// The guard. Experts are asked for layer by layer, round and round, so a policy of recency with
// fewer slots than a token needs experts drops each one just before it is asked for again and hits
// nothing at all. With so few slots the store therefore stops admitting when it is full, until the
// token is over: a resident stays until its own layer was visited again without using it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/experts/policy.h"
#include "runtime/experts/routing_shape.h"

namespace colibri::experts {

struct Counters {
  uint64_t hits = 0, misses = 0;  // of distinct experts per step and layer
  uint64_t loads = 0, evictions = 0;
};

// The experts that one layer of one step asks for, and the slots leased for it. Filled by
// Residency; allocates nothing after its constructor.
struct Demand {
  explicit Demand(const RoutingShape& shape);

  std::vector<uint32_t> keys;     // asked for, ascending
  std::vector<uint8_t> resident;  // parallel to keys: 1 for a hit
  std::vector<uint32_t> missing;  // keys still to come
  std::vector<int32_t> held;      // slots leased now: the wave
  std::vector<int32_t> claimed;   // those of them that must be loaded
  bool hits_pending = false;      // the wave of hits was leased and not given out yet
};

// One call at a time.
class Residency {
 public:
  // slots: at least 2, unless there are no more experts.
  static Result<Residency> create(const RoutingShape& shape, uint64_t slots, PolicyPlugin policy);

  const RoutingShape& shape() const { return shape_; }
  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  bool holds_all() const { return slots_.size() == shape_.keys(); }
  // Slots that the policy rules: all but the passage.
  uint64_t ruled() const { return ruled_; }
  bool guarded() const { return guarded_; }
  uint32_t key_in(int32_t slot) const { return at(slot).key; }
  const Counters& counters() const { return counters_; }
  // Per key: the visits that asked for it.
  std::span<const uint64_t> uses() const { return uses_; }
  void forget_counters();

  // Starts a visit with distinct experts, ascending, and leases those that are there.
  void begin(Demand& demand, uint64_t step, uint32_t layer, std::span<const int32_t> experts);
  // Ends the leases of the last wave; true if there were any.
  bool end_wave(Demand& demand);
  // Leases the next wave: the hits first, then missing experts, those of demand.claimed to be
  // loaded now. Nothing held and nothing missing afterwards: every expert had its turn. Nothing held
  // though some are missing: try again when another visitor's lease ended or its load finished. An
  // error ends the visit.
  Status take_wave(Demand& demand);
  // How the loads of demand.claimed went. Failed ones leave their slots.
  void loaded(Demand& demand);
  void failed(Demand& demand);
  // Ends the visit; true if leases ended.
  bool end(Demand& demand);

 private:
  static constexpr int32_t kAbsent = -1;
  struct Slot {
    uint32_t key = 0;
    uint32_t leases = 0;
    bool ready = false;
  };

  Residency() = default;
  Slot& at(int32_t slot) { return slots_[static_cast<size_t>(slot)]; }
  const Slot& at(int32_t slot) const { return slots_[static_cast<size_t>(slot)]; }
  bool in_passage(int32_t slot) const { return static_cast<uint64_t>(slot) >= ruled_; }
  void lease(int32_t slot);
  void release(int32_t slot);
  // A slot to load `key` into, leased; kAbsent = none can be had now.
  Result<int32_t> claim(uint32_t key);
  int32_t pass(uint32_t key);
  void occupy(int32_t slot, uint32_t key);
  void vacate(int32_t slot);
  // Residents that may be dropped now, a bit per key.
  std::span<const uint64_t> droppable();

  RoutingShape shape_;
  std::optional<Policy> policy_;
  uint64_t ruled_ = 0;
  bool guarded_ = false;
  std::vector<Slot> slots_;
  std::vector<int32_t> slot_of_key_;
  std::vector<int32_t> free_, free_passage_;
  std::vector<uint64_t> evictable_;  // bit per key: ready, not leased, not in the passage
  std::vector<uint64_t> safe_;       // bit per key: its layer has not passed by since its last use
  std::vector<uint64_t> droppable_;
  Counters counters_;
  std::vector<uint64_t> uses_;
};

}  // namespace colibri::experts
