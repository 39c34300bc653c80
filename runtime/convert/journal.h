// SPDX-License-Identifier: Apache-2.0
// What an interrupted conversion has done already.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/base/writable_file.h"

namespace colibri::convert {

// A text file: a line with the conversion's identity, then the checksum of each tensor that is whole
// in the partial file, in order.
class Journal {
 public:
  // Refuses the journal of another conversion. A last line that was cut short does not count.
  static Result<Journal> open(const std::filesystem::path& path, const std::string& identity);

  const std::vector<uint64_t>& done() const { return done_; }
  // Forgets all but the first n.
  Status keep(size_t n);
  Status add(uint64_t checksum);

 private:
  explicit Journal(WritableFile file) : file_(std::move(file)) {}

  WritableFile file_;
  uint64_t head_bytes_ = 0;
  std::vector<uint64_t> done_;
};

}  // namespace colibri::convert
