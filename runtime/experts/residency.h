// SPDX-License-Identifier: Apache-2.0
// Residency: which experts are in which slots, which of them go when others come, and what was hit:
// every decision of the expert store, without its memory. The store calls it with its lock held;
// `colibri cache replay` calls it with a recorded trace. So a replay decides what the store would.
//
// With a slot for every expert nothing is ever dropped. Otherwise the cache policy rules over all
// slots but the passage: an expert that is not admitted is loaded into a slot of the passage and
// leaves with its last lease.
//
// A visit claims slots for missing experts while those that are there compute, and one more whenever
// it is done with one, so that reads and computing overlap. These steps have one order, whichever
// read ends first: decisions do not depend on time.
//
// The guard. Experts are asked for layer by layer, round and round, so a policy of recency with
// fewer slots than a pass over the layers needs experts drops each one just before it is asked for
// again and hits nothing at all. A visit that asks for so many experts that those of all layers
// would not fit therefore admits nothing when the store is full: a resident stays until such a visit
// to its own layer did not use it. Chunks of a prompt are like that with most budgets, single tokens
// only with very small ones. So a prompt leaves what tokens before it used where it is.
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
  // Of the store's, which adds them: experts that were read ahead, and those of them that were then
  // asked for, among the loads.
  uint64_t ahead = 0, ahead_used = 0;
};

// The experts that one layer of one step asks for, and the slots that one visitor has for it. Filled
// by Residency; allocates nothing after its constructor.
struct Demand {
  explicit Demand(const RoutingShape& shape);

  std::vector<uint32_t> keys;     // asked for, ascending
  std::vector<uint8_t> resident;  // parallel to keys: 1 for a hit
  std::vector<uint32_t> missing;  // keys without a slot, or with one that another visitor loads
  std::vector<int32_t> loading;   // slots claimed for this demand and not loaded, by time of claim
  std::vector<int32_t> held;      // loaded slots leased for computing now
  bool guarded = false;           // the guard holds for this visit
  bool held_own = false;          // whether they were claimed for this demand
  uint32_t claimed = 0;           // slots of loading, and of held if held_own
};

// One call at a time.
class Residency {
 public:
  // Slots that one visitor has claimed and not released are at most so many.
  static constexpr uint32_t kMostClaimed = 32;

  // slots: at least 2, unless there are no more experts.
  static Result<Residency> create(const RoutingShape& shape, uint64_t slots, PolicyPlugin policy);

  const RoutingShape& shape() const { return shape_; }
  uint32_t slots() const { return static_cast<uint32_t>(uses_of_slots_.all()); }
  bool holds_all() const { return uses_of_slots_.all() == shape_.keys(); }
  // Slots that the policy rules: all but the passage.
  uint64_t ruled() const { return uses_of_slots_.ruled; }
  // Whether the guard holds for single tokens.
  bool guarded() const { return uses_of_slots_.guarded; }
  uint32_t key_in(int32_t slot) const { return at(slot).key; }
  // Whether it is in a slot or has one to be loaded to.
  bool has(uint32_t key) const { return slot_of_key_[key] != kAbsent; }
  const Counters& counters() const { return counters_; }
  // Per key: the visits that asked for it.
  std::span<const uint64_t> uses() const { return uses_; }
  void forget_counters();

  // Starts a visit with distinct experts, ascending: leases those that are loaded, and claims slots
  // for missing ones. After an error of this or the following functions the visit must end.
  Status begin(Demand& demand, uint64_t step, uint32_t layer, std::span<const int32_t> experts);
  // The first n of demand.loading have been loaded, and are held now. Nothing may be held.
  void loaded(Demand& demand, size_t n);
  // Ends the leases of what is held, one after another, and claims more slots after each.
  Status release(Demand& demand);
  // For a visit that has nothing held and nothing loading: leases what other visitors have loaded of
  // its missing experts, or claims slots for them. Neither, although some are missing: try again
  // when another visitor released or loaded something.
  Status retry(Demand& demand);
  // Ends the visit, whose reads have all ended: what was not loaded leaves its slot.
  void end(Demand& demand);

  // Has so many slots from now on, as for create(). Of slots that are too many, those in use leave
  // when their leases end. What was used when is forgotten if there are more than ever before.
  Status resize(uint64_t slots);
  // Slots were numbered below this.
  size_t numbers() const { return slots_.size(); }
  // Numbers whose memory nobody needs now, since the last call.
  std::span<const int32_t> withdrawn();

 private:
  static constexpr int32_t kAbsent = -1;
  enum class Use : uint8_t { kRuled, kPassage, kWithdrawn };
  struct Slot {
    uint32_t key = 0;
    uint32_t leases = 0;
    bool ready = false;
    Use use = Use::kWithdrawn;
  };
  struct Uses {
    uint64_t ruled = 0, passage = 0;
    bool guarded = false;
    uint64_t all() const { return ruled + passage; }
  };

  Residency() = default;
  Slot& at(int32_t slot) { return slots_[static_cast<size_t>(slot)]; }
  const Slot& at(int32_t slot) const { return slots_[static_cast<size_t>(slot)]; }
  bool in_passage(int32_t slot) const { return at(slot).use == Use::kPassage; }
  Uses uses_for(uint64_t slots) const;
  Status resize_policy(uint32_t slots);
  // Gives slots the uses they shall have, as far as they are free.
  void settle();
  void use(Use use, std::vector<int32_t>& free, uint64_t& count, uint64_t wanted);
  void withdraw(std::vector<int32_t>& free, uint64_t& count);
  // Makes a ruled slot free whose expert is not in use; false = there is none.
  bool drop_one();
  void lease(int32_t slot);
  void release(int32_t slot);
  // Claims slots for missing experts until there is none to be had.
  Status claim(Demand& demand);
  // A slot to load `key` into, leased; kAbsent = none can be had now.
  Result<int32_t> slot_for(uint32_t key, bool guarded);
  int32_t pass(uint32_t key);
  void occupy(int32_t slot, uint32_t key);
  void vacate(int32_t slot);
  // Residents that may be dropped now, a bit per key.
  std::span<const uint64_t> droppable(bool guarded);

  RoutingShape shape_;
  PolicyPlugin plugin_;
  std::optional<Policy> policy_;
  uint64_t policy_slots_ = 0;         // that it was created for
  Uses uses_of_slots_;                // as they shall be
  uint64_t ruled_ = 0, passage_ = 0;  // and are
  std::vector<Slot> slots_;
  std::vector<int32_t> slot_of_key_;
  std::vector<int32_t> free_, free_passage_, spare_;  // spare: withdrawn
  std::vector<int32_t> just_withdrawn_, reported_;
  std::vector<uint64_t> evictable_;  // bit per key: ready, not leased, not in the passage
  std::vector<uint64_t> safe_;  // bit per key: no guarded visit to its layer has left it unused
  std::vector<uint64_t> droppable_;
  Counters counters_;
  std::vector<uint64_t> uses_;
};

}  // namespace colibri::experts
