// SPDX-License-Identifier: Apache-2.0
// Work that is the same every time: how steady the machine is, to set beside how steady tokens are.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"

namespace colibri::bench {

// Reads as much memory as a token does, so that whatever disturbs the cores or the memory falls on
// both alike.
class FixedLoop {
 public:
  // bytes: that a token reads. Error: COLIBRI_OUT_OF_MEMORY.
  static Result<FixedLoop> create(uint64_t bytes);
  // Once, on `threads` threads of the pool. [one caller of the pool at a time]
  void run(ThreadPool& pool, unsigned threads) const;

 private:
  explicit FixedLoop(Memory memory) : memory_(std::move(memory)) {}

  Memory memory_;
};

}  // namespace colibri::bench
