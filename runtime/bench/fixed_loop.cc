// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/fixed_loop.h"

#include <algorithm>
#include <cstring>

namespace colibri::bench {
namespace {

// Far more than caches hold, and no more than a machine with a large model can spare.
constexpr uint64_t kMostRead = 512u << 20;
constexpr uint64_t kTask = 64u << 10;  // bytes

}  // namespace

Result<FixedLoop> FixedLoop::create(uint64_t bytes) {
  COLIBRI_ASSIGN(Memory memory,
                 Memory::allocate(align_up(std::clamp(bytes, kTask, kMostRead), kTask),
                                  "the fixed loop of --steady"));
  std::memset(memory.data(), 1, memory.size());  // pages that were never written are all one page
  return FixedLoop(std::move(memory));
}

void FixedLoop::run(ThreadPool& pool, unsigned threads) const {
  const auto tasks = static_cast<int64_t>(memory_.size() / kTask);
  (void)pool.run(tasks, threads, [&](unsigned, int64_t begin, int64_t end) {
    const auto* words = reinterpret_cast<const uint64_t*>(memory_.data());
    constexpr auto kWords = static_cast<int64_t>(kTask / sizeof(uint64_t));
    uint64_t sum = 0;
    for (int64_t i = begin * kWords; i < end * kWords; ++i) sum ^= words[i];
    asm volatile("" : : "r"(sum) : "memory");  // keeps the compiler from leaving the loads out
    return colibri_status{COLIBRI_OK};
  });
}

}  // namespace colibri::bench
