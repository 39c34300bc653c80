// SPDX-License-Identifier: Apache-2.0
// Worker threads that take chunks of a phase until none is left: a static split loses badly when
// one core is busy.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/function_ref.h"
#include "runtime/base/status.h"

namespace colibri {

// One pool serves one caller at a time. Workers stay awake for a moment after a phase, because the
// next one usually follows at once, and then sleep. run() allocates nothing.
class ThreadPool {
 public:
  // Of `threads` >= 1 threads, the caller of run() being one of them.
  static Result<std::unique_ptr<ThreadPool>> create(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  // Runs body(worker, begin, end) over [0, tasks) in disjoint ranges on at most `threads` threads,
  // and returns when all are done. worker < threads tells the threads of one phase apart, e.g. to
  // pick scratch memory. The first code that is not COLIBRI_OK ends the phase early and is
  // returned.
  using Body = FunctionRef<colibri_status(unsigned worker, int64_t begin, int64_t end)>;
  colibri_status run(int64_t tasks, unsigned threads, Body body);

 private:
  struct alignas(64) Worker {
    std::thread thread;
    std::atomic<uint32_t> go{0};  // counts the phases this worker was called to; kQuit ends it
  };
  static constexpr uint32_t kQuit = UINT32_MAX;

  explicit ThreadPool(unsigned threads);
  void stop();
  void serve(unsigned worker);
  void take_chunks(unsigned worker);
  // The next tasks that nobody has; an empty range when there are none left.
  struct Range {
    int64_t begin, end;
  };
  Range take_chunk();

  std::vector<std::unique_ptr<Worker>> workers_;
  // The phase in progress.
  Body const* body_ = nullptr;
  int64_t tasks_ = 0;
  int64_t threads_in_phase_ = 1;
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<uint32_t> busy_{0};  // called workers that are not done
  std::atomic<colibri_status> failure_{COLIBRI_OK};
};

}  // namespace colibri
