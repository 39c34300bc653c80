// SPDX-License-Identifier: Apache-2.0
// Running operators on threads: a phase is up to a few independent operators whose tasks share one
// pass over the pool, because waking and joining threads costs more than a small operator.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/engine/operator.h"
#include "runtime/engine/recorder.h"

namespace colibri::engine {

struct Call {
  const Operator* what = nullptr;   // null = nothing to do
  const void* arguments = nullptr;  // the struct of its operator
};

// One thread's way to the pool, with scratch memory for each worker. Allocates nothing after
// create().
class PhaseRunner {
 public:
  // scratch_bytes per worker.
  static Result<PhaseRunner> create(unsigned threads, uint64_t scratch_bytes);

  void use_threads(unsigned threads) { threads_ = threads; }
  unsigned threads() const { return threads_; }
  ThreadPool& pool() const { return *pool_; }
  // null = nothing is recorded.
  void record_to(Recorder* recorder) { recorder_ = recorder; }
  Recorder* recorder() const { return recorder_; }

  // Runs all tasks of the calls; they must not depend on each other. A failing kernel is named.
  Status run(std::initializer_list<Call> calls) { return run(calls, threads_); }
  // The same for operators that take about a microsecond a row: few rows are done by this thread
  // before others have been called.
  Status run_light(int64_t rows, std::initializer_list<Call> calls) {
    return run(calls, rows < kFewRows ? 1 : threads_);
  }

 private:
  static constexpr int64_t kFewRows = 4;

  PhaseRunner() = default;
  Status run(std::initializer_list<Call> calls, unsigned threads);

  std::unique_ptr<ThreadPool> pool_;
  unsigned threads_ = 1;
  Memory scratch_;
  uint64_t scratch_bytes_ = 0;
  Recorder* recorder_ = nullptr;
};

}  // namespace colibri::engine
