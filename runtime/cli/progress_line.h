// SPDX-License-Identifier: Apache-2.0
// How far a long job is: one line on a terminal, nothing elsewhere.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "runtime/base/memory.h"

namespace colibri::cli {

class ProgressLine {
 public:
  void show(uint64_t done_bytes, uint64_t all_bytes) {
    if (!terminal_ || all_bytes == 0) return;
    const auto percent = static_cast<int>(100 * done_bytes / all_bytes);
    if (percent == shown_) return;
    shown_ = percent;
    std::fprintf(stderr, "\r%3d %% of %s", percent, human_bytes(all_bytes).c_str());
  }
  ~ProgressLine() {
    if (shown_ >= 0) std::fputc('\n', stderr);
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  int shown_ = -1;
};

}  // namespace colibri::cli
