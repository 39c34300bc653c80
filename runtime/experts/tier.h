// SPDX-License-Identifier: Apache-2.0
// Tier: which experts are in the memory of a device, and which come there in the place of others:
// every decision, without the memory. A layer's experts are all there from the start, or never, or
// they are copied there from the host's store and share some slots with those of other layers.
//
// An expert that is not there is computed by the host, so nobody ever waits for a copy. Copies cost
// the bus, and are made for later tokens only: an expert that comes where no slot is free must have
// been asked for more often than the one that the cache policy gives up for it (the admission of
// TinyLFU: Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017),
// and a visit brings at most one that way. Free slots are first filled evenly over the layers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/experts/policy.h"
#include "runtime/experts/residency.h"
#include "runtime/experts/routing_shape.h"

namespace colibri::experts {

// Where the experts of a layer are, of a model that is on a device.
enum class ExpertPlace {
  kHost,    // in the host's store
  kDevice,  // on the device, all of them
  kBoth,    // in the host's store, and those that are asked for most on the device, too
};

// What one visitor has of a tier for one layer of one step. Filled by the Tier; allocates nothing
// after its constructor.
struct Stay {
  struct Place {
    uint32_t expert = 0;
    uint32_t slot = 0;
  };

  explicit Stay(const RoutingShape& shape);
  // Says that an expert that is coming has been copied, as far as the visitor's queue is concerned.
  void arrived(size_t index) { copied[index] = 1; }

  std::vector<Place> there;        // leased for computing on the device
  std::vector<int32_t> elsewhere;  // experts for the host to compute, ascending
  std::vector<Place> coming;       // of those, the ones to copy to a slot once they are at hand
  std::vector<uint8_t> copied;     // parallel to coming
  std::vector<uint32_t> keys;      // asked for
  std::vector<uint8_t> resident;   // parallel to keys: 1 for those that are there
};

// Thread-safe.
class Tier {
 public:
  // places: by layer. shared: slots for the layers that are in both places; 1 or more if there are
  // any.
  static Result<std::unique_ptr<Tier>> create(const RoutingShape& shape,
                                              std::span<const ExpertPlace> places, uint32_t shared,
                                              PolicyPlugin policy);
  Tier(const Tier&) = delete;
  Tier& operator=(const Tier&) = delete;

  const RoutingShape& shape() const { return shape_; }
  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  // The slot that an expert has for good; for a layer that is on the device only.
  uint32_t fixed_slot(uint32_t layer, uint32_t expert) const {
    return slot_of_key_[layer * shape_.experts + expert];
  }

  // Ends the stay, and starts one with distinct experts, ascending. After an error it must end.
  Status begin(Stay& stay, uint64_t step, uint32_t layer, std::span<const int32_t> experts);
  // All that the visitor put into its queue has happened: leases end, and what was copied is there
  // for everybody.
  void end(Stay& stay);

  // Whether an expert is there or coming.
  bool has(uint32_t layer, uint32_t expert) const;
  // hits: of visits that found an expert there; loads: copies.
  Counters counters() const;
  // Per key (layer * experts + expert): the visits that asked for it.
  std::vector<uint64_t> uses() const;

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;
  // Counts of uses are halved after so many steps, so that what was hot once does not stay for ever.
  static constexpr uint64_t kStepsOfAge = 64;
  struct Slot {
    uint32_t key = kAbsent;
    uint32_t leases = 0;
    bool ready = false;
    bool fixed = false;
  };

  Tier(const RoutingShape& shape, std::span<const ExpertPlace> places);
  // With the lock:
  void lease(uint32_t slot);
  void make_ready(uint32_t slot);
  Status claim(Stay& stay, uint32_t layer);
  Status exchange(Stay& stay, uint32_t layer);
  void occupy(Stay& stay, uint32_t layer, uint32_t expert);
  void vacate(uint32_t slot);

  const RoutingShape shape_;
  const std::vector<ExpertPlace> places_;  // by layer
  uint32_t share_ = 0;                     // free slots that a layer may take
  mutable std::mutex mutex_;
  std::unique_ptr<Policy> policy_;  // null = no slots are shared
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> slot_of_key_;
  std::vector<uint32_t> filled_;     // per layer: free slots that it took
  std::vector<uint64_t> evictable_;  // bit per key: in a shared slot, ready and not leased
  std::vector<uint32_t> recent_;     // per key: uses, halved from time to time
  std::vector<uint64_t> uses_;       // per key, ever
  uint64_t visits_ = 0;              // since the last halving
  Counters counters_;
};

}  // namespace colibri::experts
