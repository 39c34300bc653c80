// SPDX-License-Identifier: Apache-2.0
// Files: the one seam where the host does I/O, so that tests can inject faults in one
// place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri {

// An open regular file. Reads are positioned, so any number of threads may use one File.
class File {
 public:
  // Refuses what is not a regular file (a folder, FIFO, socket or device) by name and without
  // blocking on it.
  static Result<File> open(const std::filesystem::path& path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return size_; }  // bytes, when it was opened

  // Reads exactly n bytes at offset; a range outside the file or a short read is COLIBRI_IO with
  // the path. [any]
  Status read(uint64_t offset, void* to, uint64_t n) const;

 private:
  File(std::filesystem::path path, int descriptor, uint64_t size);

  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

// The whole of a regular file of at most max_bytes.
Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes);

// Writes the whole of a file, in place of what was there.
Status write_file(const std::filesystem::path& path, std::string_view content);

namespace fault_injection {
// Called before each read of the process with (path, offset, bytes); what it returns, unless ok, is
// the read's result. Set by tests only, while nothing is being read; an empty function ends it.
using ReadFault = std::function<Status(const std::filesystem::path&, uint64_t, uint64_t)>;
void set_read_fault(ReadFault fault);
}  // namespace fault_injection

}  // namespace colibri
