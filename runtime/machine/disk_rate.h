// SPDX-License-Identifier: Apache-2.0
// How fast a disk gives what no cache of the system holds: the limit of streamed experts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "runtime/base/status.h"

namespace colibri::machine {

struct DiskRate {
  double bytes_per_second = 0;   // of several reads at a time
  double lone_read_seconds = 0;  // of one with no other beside it, on average
  uint64_t read_bytes = 0;       // of a read

  // Of `bytes` with nothing else beside them; as many reads as they take follow each other.
  double lone_seconds(uint64_t bytes) const {
    const double reads = static_cast<double>(bytes) / static_cast<double>(read_bytes);
    return lone_read_seconds * std::max(reads, 1.0);
  }
};

// Reads `read_bytes` bytes, at most 8 MiB, at scattered places of the file, first one by one, then
// some at a time, for a fraction of a second. They go past the system's cache (O_DIRECT) where the filesystem can
// do that; one that lives in memory cannot, and is as fast as memory. Errors: COLIBRI_IO,
// COLIBRI_OUT_OF_MEMORY, COLIBRI_INVALID_ARGUMENT for an empty file.
Result<DiskRate> measure_disk_rate(const std::filesystem::path& path, uint64_t read_bytes);

}  // namespace colibri::machine
