// SPDX-License-Identifier: Apache-2.0
// ExpertSource: where the bundles of experts come from, as the store sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace colibri::experts {

class ExpertSource {
 public:
  // A bundle that lies in a file as it lies in a slot.
  struct Extent {
    const File* file = nullptr;  // lives as long as the source; a direct one: offset is aligned
    uint64_t offset = 0, bytes = 0;
  };

  virtual ~ExpertSource() = default;

  // Fills a slot and checks what came, on the calling thread. staging is memory of the worker's own.
  // Allocates nothing, but for messages of failures. [worker]
  virtual Status load(uint32_t layer, uint32_t expert, std::byte* slot,
                      std::byte* staging) const = 0;

  // The same in two steps, for who reads without blocking: the one read, and then the check of each
  // part of what came. nullopt if it takes more than one read. [any]
  virtual std::optional<Extent> extent(uint32_t /*layer*/, uint32_t /*expert*/) const {
    return std::nullopt;
  }
  virtual uint32_t parts() const { return 1; }
  virtual Status check(uint32_t /*layer*/, uint32_t /*expert*/, uint32_t /*part*/,
                       const std::byte* /*slot*/) const {
    return {};
  }
};

}  // namespace colibri::experts
