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

// Offsets, lengths and memory of direct reads are multiples of it.
constexpr uint64_t kDirectAlignment = 4096;

// An open regular file. Reads are positioned, so any number of threads may use one File.
class File {
 public:
  // Refuses what is not a regular file (a folder, FIFO, socket or device) by name and without
  // blocking on it.
  static Result<File> open(const std::filesystem::path& path);
  // The same file for reads that come straight from the device and leave nothing in the page cache
  // (O_DIRECT). COLIBRI_UNSUPPORTED, with the reason, where its filesystem does not grant them.
  Result<File> open_direct() const;

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return size_; }  // bytes, when it was opened
  bool direct() const { return direct_; }
  int descriptor() const { return descriptor_; }

  // Reads exactly n bytes at offset; a range outside the file, an error of the device that comes
  // twice or a file that became shorter is COLIBRI_IO with the path. Of a direct file `offset` and
  // `to` are aligned, and there is memory for n rounded up to kDirectAlignment. [any]
  Status read(uint64_t offset, void* to, uint64_t n) const;
  // COLIBRI_IO if bytes [offset, offset + n) are not all in the file.
  Status check_range(uint64_t offset, uint64_t n) const;
  // Lets the system forget what it keeps of the file in memory.
  void drop_cache() const;

 private:
  File(std::filesystem::path path, int descriptor, uint64_t size);

  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  bool direct_ = false;
};

// The whole of a regular file of at most max_bytes.
Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes);

// Writes the whole of a file, in place of what was there.
Status write_file(const std::filesystem::path& path, std::string_view content);

namespace fault_injection {
// Called for each attempt of the process to read, with (path, offset, bytes): what it returns comes
// of it. As many bytes: nothing is changed; fewer: only so many are read; a negative error number:
// that, and nothing is read. It may take its time, as a slow disk does. Called by any thread. Set by
// tests only, while nothing is being read; an empty function ends it.
using ReadFault = std::function<int64_t(const std::filesystem::path&, uint64_t, uint64_t)>;
void set_read_fault(ReadFault fault);
// For who reads: what an attempt of so many bytes may bring.
int64_t read_fault(const File& file, uint64_t offset, uint64_t bytes);
}  // namespace fault_injection

}  // namespace colibri
