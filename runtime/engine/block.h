// SPDX-License-Identifier: Apache-2.0
// Memory where a model lies: the host's, or a device's, whose addresses the host cannot follow.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/plugin/device.h"

namespace colibri::engine {

// Owns a block of memory. Movable; an empty one has data() == nullptr.
class Block {
 public:
  Block() = default;
  explicit Block(Memory host) : host_(std::move(host)) {}
  // device: null = the host's memory, which is cleared; a device's is not. `what` names the use in
  // the error.
  static Result<Block> allocate(const plugin::Device* device, uint64_t bytes,
                                const std::string& what) {
    Block block;
    if (device == nullptr) {
      COLIBRI_ASSIGN(block.host_, Memory::allocate(bytes, what));
    } else {
      COLIBRI_ASSIGN(block.device_, plugin::DeviceMemory::allocate(*device, bytes, what));
    }
    return block;
  }

  std::byte* data() const { return host_.data() != nullptr ? host_.data() : device_.data(); }

 private:
  Memory host_;
  plugin::DeviceMemory device_;
};

}  // namespace colibri::engine
