// SPDX-License-Identifier: Apache-2.0
// A file that is made piece by piece.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri {

// Positioned writes, of different bytes by any number of threads. Errors name the path.
class WritableFile {
 public:
  // Creates the file, or opens it with what it holds.
  static Result<WritableFile> open(const std::filesystem::path& path);

  WritableFile(WritableFile&& other) noexcept;
  WritableFile& operator=(WritableFile&& other) noexcept;
  ~WritableFile();

  Status write(uint64_t offset, std::string_view bytes);
  // Cuts it, or fills it up with zeros.
  Status resize(uint64_t bytes);
  // Returns when all of it is on the disk.
  Status sync();

 private:
  WritableFile(std::filesystem::path path, int descriptor);
  Status failed(const char* what) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace colibri
