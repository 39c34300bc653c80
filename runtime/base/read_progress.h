// SPDX-License-Identifier: Apache-2.0
// ReadProgress: one read on its way through attempts that may bring less, nothing or an error. Whoever
// asks the system, a call that blocks or a ring, what an answer means is the same.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"

namespace colibri {

class File;

class ReadProgress {
 public:
  ReadProgress() = default;
  // Bytes [offset, offset + n) of a file, which lives longer, to `to`. See File::read().
  ReadProgress(const File& file, uint64_t offset, void* to, uint64_t n);

  bool done() const { return got_ >= wanted_; }
  // What to ask for next.
  const File& file() const { return *file_; }
  uint64_t offset() const { return offset_ + got_; }
  void* to() const { return to_ + got_; }
  uint64_t bytes() const;

  // The system's answer to that: how many bytes came, or a negative error number. An error that may
  // pass, and an end where there should be more, are tried once more; then they are the read's end.
  Status take(int64_t answer);

 private:
  Status failed(const std::string& what) const;

  const File* file_ = nullptr;
  uint64_t offset_ = 0, wanted_ = 0, got_ = 0;
  char* to_ = nullptr;
  int busy_ = 0;          // answers that said: not now
  bool retried_ = false;  // after an error or an early end
};

}  // namespace colibri
