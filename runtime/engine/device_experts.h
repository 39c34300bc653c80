// SPDX-License-Identifier: Apache-2.0
// All experts of a model in the memory of a device.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/engine/block.h"
#include "runtime/engine/layers.h"
#include "runtime/experts/source.h"
#include "runtime/plugin/device.h"

namespace colibri::engine {

class DeviceExperts {
 public:
  struct Shape {
    uint32_t layers = 0;  // with experts
    uint32_t experts = 0;
    uint64_t slot_bytes = 0;     // of a bundle
    uint64_t staging_bytes = 0;  // that reading one works in
  };
  static uint64_t bytes(const Shape& shape) {
    return uint64_t{shape.layers} * shape.experts * shape.slot_bytes;
  }
  // Memory of the host while they are loaded.
  static uint64_t loading_bytes(const Shape& shape, unsigned threads) {
    return threads * (shape.slot_bytes + shape.staging_bytes);
  }

  // Reads and packs every expert on the pool's threads and copies it to the queue's device.
  static Result<DeviceExperts> load(const Shape& shape, const experts::ExpertSource& source,
                                    ThreadPool& pool, plugin::DeviceQueue& queue);

  std::byte* memory() const { return memory_.data(); }
  // A bundle: `layer` counts those with experts.
  const std::byte* bundle(uint32_t layer, uint32_t expert) const {
    return memory_.data() + offset(shape_, layer, expert);
  }

 private:
  static uint64_t offset(const Shape& shape, uint32_t layer, uint32_t expert) {
    return (uint64_t{layer} * shape.experts + expert) * shape.slot_bytes;
  }

  Shape shape_;
  Block memory_;
};

}  // namespace colibri::engine
