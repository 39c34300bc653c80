// SPDX-License-Identifier: Apache-2.0
// What the cgroups around this process grant it, version 1 and 2 alike.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace colibri::machine {

struct CgroupLimits {
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

  double cpu_quota = 0;              // processors' worth of time; 0 = no quota
  uint64_t memory_limit = kNoLimit;  // bytes, the smallest of all levels
  uint64_t memory_available =
      kNoLimit;  // bytes, the least over all levels of limit - (usage - droppable file cache)
  std::string memory_limited_by;  // the file of the limit that memory_available comes from
};

// Reads the limits of this process's group and of all groups above it that can be seen, from the
// tree at root.
CgroupLimits read_cgroup_limits(const std::string& root);

}  // namespace colibri::machine
