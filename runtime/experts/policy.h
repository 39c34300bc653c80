// SPDX-License-Identifier: Apache-2.0
// A cache-policy plugin and its state, with what it answers checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "colibri/cache_policy.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/experts/routing_shape.h"

namespace colibri::experts {

// The policy that the pipeline chose. Table and host live as long as the process and the plugin
// instance.
struct PolicyPlugin {
  std::string id;
  const colibri_cache_policy_1* table = nullptr;
  const colibri_host* host = nullptr;
};

// key = layer * experts + expert. One call at a time.
class Policy {
 public:
  static Result<Policy> create(PolicyPlugin plugin, const RoutingShape& routing, uint32_t slots);

  void on_access(uint64_t step, std::span<const uint32_t> keys, const uint8_t* resident);
  void on_insert(uint32_t key);
  void on_evict(uint32_t key);
  // At most as many slots as it was created with.
  Status resize(uint32_t slots);
  // The resident to drop, one whose bit is set in evictable; nullopt = admit nothing more.
  // COLIBRI_INTERNAL if the plugin chose one that it may not.
  Result<std::optional<uint32_t>> victim(std::span<const uint64_t> evictable);

 private:
  PolicyPlugin plugin_;
  Memory state_;
};

}  // namespace colibri::experts
