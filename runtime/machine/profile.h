// SPDX-License-Identifier: Apache-2.0
// What this machine is, found once at start and then only read: what code may run here, on how many
// cores, with how much memory. Everything is what this process may use, not what the hardware has:
// the operating system's saved state, the affinity mask, and the limits of the cgroups (v1 and v2)
// around it are counted in.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/machine/cpu_features.h"

namespace colibri::machine {

struct CacheSizes {  // bytes of one instance, as the first usable core sees it; 0 = unknown
  uint64_t l1_data = 0;
  uint64_t l2 = 0;
  uint64_t l3 = 0;
};

struct Profile {
  std::string architecture;  // as `uname -m` names it: "x86_64", "aarch64"
  FeatureSet cpu_features;  // usable ones, named as in /proc/cpuinfo: "avx2", "fma", "asimddp", ...
  std::string isa_limit;    // value of COLIBRI_MAX_ISA that lowered cpu_features; empty = none did

  uint32_t hardware_threads = 0;  // processors in the affinity mask
  uint32_t physical_cores = 0;    // distinct cores behind them
  double cpu_quota = 0;           // processors' worth of time that the cgroups grant; 0 = no quota
  uint32_t usable_cores =
      0;  // physical_cores, or the whole part of the quota where that is lower; at least 1

  uint64_t memory_total = 0;  // bytes: MemTotal, or the smallest cgroup limit where that is lower
  uint64_t memory_available = 0;  // bytes: the least of MemAvailable and, of each cgroup, limit -
                                  // usage; file cache that the kernel can drop counts as available
  std::string
      memory_limited_by;  // the file whose limit gave memory_available; empty = MemAvailable

  CacheSizes caches;
  uint64_t page_bytes = 0;
  uint64_t huge_page_bytes = 0;        // of transparent huge pages; 0 = none
  std::string transparent_huge_pages;  // "always", "madvise" or "never"; empty = none

  // Finds out. root is where /proc and /sys hang ("/" but for tests); CPU features come from the
  // processor itself. COLIBRI_MAX_ISA (docs/abi.md) may lower them, never raise; it is ignored in a
  // set-user-ID program. Errors: COLIBRI_IO when /proc cannot be read, COLIBRI_INVALID_ARGUMENT for
  // an unknown COLIBRI_MAX_ISA. [any]
  static Result<Profile> detect(const std::string& root = "/");
};

}  // namespace colibri::machine
