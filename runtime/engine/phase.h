// SPDX-License-Identifier: Apache-2.0
// Running operators. On threads a phase is up to a few independent operators whose tasks share one
// pass over the pool, because waking and joining threads costs more than a small operator. On a
// device a phase goes into its queue.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/engine/operator.h"
#include "runtime/engine/recorder.h"
#include "runtime/plugin/device.h"

namespace colibri::engine {

struct Call {
  const Operator* what = nullptr;   // null = nothing to do
  const void* arguments = nullptr;  // the struct of its operator
};

// One thread's way to the pool, with scratch memory for each worker, or to a device. Allocates
// nothing after create().
class PhaseRunner {
 public:
  // scratch_bytes per worker.
  static Result<PhaseRunner> create(unsigned threads, uint64_t scratch_bytes);
  // From now on the operators of the device go into its queue, with as much scratch memory there.
  Status use_device(const plugin::Device& device, uint64_t scratch_bytes);

  // What was run on the device has happened after its wait(); null = there is none.
  plugin::DeviceQueue* queue() { return queue_ ? &*queue_ : nullptr; }
  void use_threads(unsigned threads) { threads_ = threads; }
  unsigned threads() const { return threads_; }
  ThreadPool& pool() const { return *pool_; }
  // null = nothing is recorded.
  void record_to(Recorder* recorder) { recorder_ = recorder; }
  Recorder* recorder() const { return recorder_; }

  // Runs all tasks of the calls, all of a device or none; they must not depend on each other. A failing kernel is named.
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
  Status run_on_device(std::initializer_list<Call> calls);

  std::unique_ptr<ThreadPool> pool_;
  unsigned threads_ = 1;
  Memory scratch_;
  uint64_t scratch_bytes_ = 0;
  Recorder* recorder_ = nullptr;
  plugin::DeviceMemory device_scratch_;
  std::optional<plugin::DeviceQueue> queue_;
};

}  // namespace colibri::engine
