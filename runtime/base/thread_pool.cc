// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <exception>

namespace colibri {
namespace {

// A waiting thread first looks without a break, because the next phase usually follows at once; then
// it looks between other threads of the machine, which get the core if they want it; then it
// sleeps. The second part is longer than what one thread does alone between two phases, because
// waking a thread takes tens of microseconds.
constexpr int kLooks = 200;
constexpr std::chrono::microseconds kYielding{100};
// A chunk is this part of what is left for each thread: large at first, when kernels gain from many
// neighbouring tasks, and small in the end, when threads would wait for the last chunk ("guided
// self-scheduling", Polychronopoulos and Kuck 1987).
constexpr int64_t kChunksOfRest = 4;
// But no smaller than this part of all tasks, because each chunk of a kernel has a price.
constexpr int64_t kMostChunks = 32;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `value` differs from `old`.
uint32_t wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kLooks; ++i) {
    if (const uint32_t now = value.load(std::memory_order_acquire); now != old) return now;
    relax();
  }
  const auto end = std::chrono::steady_clock::now() + kYielding;
  do {
    std::this_thread::yield();
    if (const uint32_t now = value.load(std::memory_order_acquire); now != old) return now;
  } while (std::chrono::steady_clock::now() < end);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(unsigned threads) {
  if (threads == 0) return invalid_argument("a thread pool needs at least one thread");
  try {
    return std::unique_ptr<ThreadPool>(new ThreadPool(threads));
  } catch (const std::exception& error) {
    return out_of_memory("cannot start " + std::to_string(threads) + " threads: " + error.what() +
                         "; lower threads.count");
  }
}

ThreadPool::ThreadPool(unsigned threads) {
  workers_.reserve(threads - 1);
  try {
    for (unsigned i = 1; i < threads; ++i) {
      workers_.push_back(std::make_unique<Worker>());
      workers_.back()->thread = std::thread([this, i] { serve(i); });
    }
  } catch (...) {
    // The destructor does not run for an object that was not made, and a thread that is not joined
    // ends the process.
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

void ThreadPool::stop() {
  for (auto& worker : workers_) {
    worker->go.store(kQuit, std::memory_order_release);
    worker->go.notify_one();
  }
  for (auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void ThreadPool::serve(unsigned worker) {
  std::atomic<uint32_t>& go = workers_[worker - 1]->go;
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(go, seen);
    if (seen == kQuit) return;
    take_chunks(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

ThreadPool::Range ThreadPool::take_chunk() {
  int64_t begin = next_.load(std::memory_order_relaxed);
  int64_t end;
  do {
    const int64_t left = tasks_ - begin;
    const int64_t wanted = std::max(left / (kChunksOfRest * threads_in_phase_),
                                    tasks_ / (kMostChunks * threads_in_phase_));
    end = begin + std::min(std::max<int64_t>(wanted, 1), left);
  } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  return {begin, end};
}

void ThreadPool::take_chunks(unsigned worker) {
  while (failure_.load(std::memory_order_relaxed) == COLIBRI_OK) {
    const Range chunk = take_chunk();
    if (chunk.begin == chunk.end) return;
    const colibri_status code = (*body_)(worker, chunk.begin, chunk.end);
    colibri_status none = COLIBRI_OK;
    if (code != COLIBRI_OK) failure_.compare_exchange_strong(none, code);
  }
}

colibri_status ThreadPool::run(int64_t tasks, unsigned threads, Body body) {
  if (tasks <= 0) return COLIBRI_OK;
  const auto useful = static_cast<unsigned>(std::min<int64_t>(tasks, this->threads()));
  threads = std::clamp(threads, 1u, useful);
  body_ = &body;
  tasks_ = tasks;
  threads_in_phase_ = threads;
  next_.store(0, std::memory_order_relaxed);
  failure_.store(COLIBRI_OK, std::memory_order_relaxed);
  busy_.store(threads - 1, std::memory_order_relaxed);
  for (unsigned i = 1; i < threads; ++i) {
    std::atomic<uint32_t>& go = workers_[i - 1]->go;
    uint32_t next = go.load(std::memory_order_relaxed) + 1;
    if (next == kQuit) next = 0;
    go.store(next, std::memory_order_release);
    go.notify_one();
  }
  take_chunks(0);
  for (uint32_t busy = busy_.load(std::memory_order_acquire); busy != 0;) {
    busy = wait_for_change(busy_, busy);
  }
  return failure_.load(std::memory_order_relaxed);
}

}  // namespace colibri
