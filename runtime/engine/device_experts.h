// SPDX-License-Identifier: Apache-2.0
// Experts of a model in the memory of a device: those of some layers for good, and copies of some of
// those that the host's store has.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/engine/block.h"
#include "runtime/experts/source.h"
#include "runtime/experts/tier.h"
#include "runtime/plugin/device.h"

namespace colibri::engine {

class DeviceExperts {
 public:
  struct Shape : experts::RoutingShape {
    std::vector<experts::ExpertPlace> places;  // by layer with experts
    uint32_t shared = 0;                       // slots for copies
    uint64_t slot_bytes = 0;                   // of a bundle
    uint64_t staging_bytes = 0;                // that reading one works in
  };

  // Takes the memory, and reads, packs and copies the experts that are there for good, on the pool's
  // threads. source: of all layers.
  static Result<DeviceExperts> load(const Shape& shape, const experts::ExpertSource& source,
                                    experts::PolicyPlugin policy, ThreadPool& pool,
                                    plugin::DeviceQueue& queue);

  // What lies in which slot. Thread-safe.
  experts::Tier& tier() const { return *tier_; }
  std::byte* memory() const { return memory_.data(); }
  uint64_t offset(uint32_t slot) const { return slot * slot_bytes_; }

 private:
  Status load_fixed(const Shape& shape, const experts::ExpertSource& source, ThreadPool& pool,
                    plugin::DeviceQueue& queue) const;

  uint64_t slot_bytes_ = 0;
  Block memory_;
  std::unique_ptr<experts::Tier> tier_;
};

}  // namespace colibri::engine
