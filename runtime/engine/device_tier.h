// SPDX-License-Identifier: Apache-2.0
// Copies of some of a model's experts in the memory of a device, beside the store in the host's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/engine/block.h"
#include "runtime/experts/tier.h"
#include "runtime/plugin/device.h"

namespace colibri::engine {

class DeviceTier {
 public:
  struct Shape : experts::RoutingShape {
    uint32_t slots = 0;
    uint64_t slot_bytes = 0;  // of a bundle
  };

  static Result<DeviceTier> create(const plugin::Device& device, const Shape& shape,
                                   experts::PolicyPlugin policy) {
    DeviceTier made;
    made.slot_bytes_ = shape.slot_bytes;
    COLIBRI_ASSIGN(made.memory_,
                   Block::allocate(&device, shape.slots * shape.slot_bytes, "some experts"));
    COLIBRI_ASSIGN(made.tier_, experts::Tier::create(shape, shape.slots, std::move(policy)));
    return made;
  }

  // What lies where. Thread-safe.
  experts::Tier& tier() const { return *tier_; }
  std::byte* memory() const { return memory_.data(); }
  uint64_t offset(uint32_t slot) const { return slot * slot_bytes_; }

 private:
  uint64_t slot_bytes_ = 0;
  Block memory_;
  std::unique_ptr<experts::Tier> tier_;
};

}  // namespace colibri::engine
