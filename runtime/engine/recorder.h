// SPDX-License-Identifier: Apache-2.0
// Recorder: what each worker of a context did and when, for `colibri bench`. A context without one
// asks no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace colibri::engine {

class Operator;

// Filled by the workers of one context, each with a part of its own, and read between its calls.
class Recorder {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  // One pass over the pool, or the wait for experts that are not in memory.
  struct Phase {
    enum class Kind { kOperators, kExperts };
    Kind kind = Kind::kOperators;
    Time begin, end;
  };
  // A worker's part in one operator of one phase.
  struct Span {
    const Operator* what = nullptr;
    size_t phase = 0;  // index into phases()
    Time begin, end;
    Clock::duration busy{};  // in the kernel; the rest of [begin, end) went to taking chunks
  };

  explicit Recorder(unsigned workers) : spans_(workers) {}

  unsigned workers() const { return static_cast<unsigned>(spans_.size()); }
  const std::vector<Phase>& phases() const { return phases_; }
  const std::vector<Span>& spans(unsigned worker) const { return spans_[worker].list; }
  void clear();

  // [the context's thread]
  void begin_phase(Phase::Kind kind) { phases_.push_back({kind, Clock::now(), {}}); }
  void end_phase() { phases_.back().end = Clock::now(); }
  // A chunk of an operator's tasks that has just been done. [worker]
  void add(unsigned worker, const Operator* what, Time begin);

 private:
  struct alignas(64) Part {
    std::vector<Span> list;
  };
  std::vector<Phase> phases_;
  std::vector<Part> spans_;  // by worker
};

}  // namespace colibri::engine
