// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/bandwidth.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "runtime/base/memory.h"

namespace colibri::machine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kMostStreams = 8;
constexpr uint64_t kStep = 64;  // one cache line of each stream in turn
// Of less memory, each chunk is read again and again until this much was read: it comes from a
// cache, and the time to call the threads would be longer. The best of kRounds such runs counts.
constexpr uint64_t kLeastRead = 32u << 20;
constexpr int kRounds = 3;
// A thread reads a chunk as streams that begin at equal distances in it. Which chunk is the better
// one differs between machines: by their prefetchers, and by the pages that a core remembers.
constexpr uint64_t kSmallChunk = 1u << 20, kLargeChunk = 4u << 20;

typedef uint64_t Vector __attribute__((vector_size(32)));

// Reads [data, data + length * kStreams): kStreams streams of `length` bytes. The sum keeps the
// compiler from leaving the loads out.
template <unsigned kStreams>
uint64_t read_streams(const std::byte* data, uint64_t length) {
  Vector sums[2 * kStreams] = {};
  for (uint64_t at = 0; at < length; at += kStep) {
    for (unsigned s = 0; s < kStreams; ++s) {
      Vector low, high;
      std::memcpy(&low, data + s * length + at, sizeof(low));
      std::memcpy(&high, data + s * length + at + sizeof(low), sizeof(high));
      sums[2 * s] ^= low;
      sums[2 * s + 1] ^= high;
    }
  }
  Vector sum = {};
  for (const Vector& each : sums) sum ^= each;
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

template <unsigned kStreams>
double best_rate(ThreadPool& pool, unsigned threads, const Memory& memory, uint64_t chunk) {
  const uint64_t passes = std::max<uint64_t>(kLeastRead / memory.size(), 1);
  const auto chunks = static_cast<int64_t>(memory.size() / chunk);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    (void)pool.run(chunks, threads, [&](unsigned, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const std::byte* data = memory.data() + static_cast<uint64_t>(i) * chunk;
        for (uint64_t pass = 0; pass < passes; ++pass) {
          const uint64_t sum = read_streams<kStreams>(data, chunk / kStreams);
          asm volatile("" : : "r"(sum) : "memory");
        }
      }
      return colibri_status{COLIBRI_OK};
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double read = static_cast<double>(passes * static_cast<uint64_t>(chunks) * chunk);
    if (seconds > 0) best = std::max(best, read / seconds);
  }
  return best;
}

}  // namespace

Result<double> measure_read_bandwidth(ThreadPool& pool, unsigned threads, uint64_t bytes) {
  const uint64_t share = align_up(std::max<uint64_t>(bytes / threads, 1), kStep * kMostStreams);
  COLIBRI_ASSIGN(const Memory memory,
                 Memory::allocate(share * threads, "measuring the memory's speed"));
  std::memset(memory.data(), 1, memory.size());  // pages that were never written are all one page
  double best = 0;
  for (uint64_t chunk : {kSmallChunk, kLargeChunk}) {
    // A part that is read again and again is a thread's whole share, as large as what a cache holds
    // for the work.
    if (memory.size() < kLeastRead) chunk = share;
    chunk = std::min(chunk, share);
    best = std::max({best, best_rate<1>(pool, threads, memory, chunk),
                     best_rate<2>(pool, threads, memory, chunk),
                     best_rate<4>(pool, threads, memory, chunk),
                     best_rate<8>(pool, threads, memory, chunk)});
  }
  return best;
}

}  // namespace colibri::machine
