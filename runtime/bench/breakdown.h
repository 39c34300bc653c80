// SPDX-License-Identifier: Apache-2.0
// Where the threads' time went, from what a recorder saw.
#pragma once

#include <string>
#include <vector>

#include "runtime/engine/operator.h"
#include "runtime/engine/recorder.h"

namespace colibri::bench {

// Seconds of all threads together: operators, waiting, host and experts add up to
// threads * seconds.
struct Breakdown {
  struct Part {
    const engine::Operator* what = nullptr;
    double seconds = 0;
  };
  unsigned threads = 0;
  double seconds = 0;           // on the clock
  std::vector<Part> operators;  // by descending seconds
  double waiting = 0;  // in phases: for a chunk, for the last thread, for threads that had to wake
  double host = 0;     // between phases: the host's own work, which is one thread's
  double experts = 0;  // until experts that were not in memory had been loaded

  double total() const { return threads * seconds; }
  // Adds what was recorded of a call from begin to end that all workers took part in.
  void add(const engine::Recorder& recorder, engine::Recorder::Time begin,
           engine::Recorder::Time end);
};

// What a plan needs an operator for: "attention.q, attention.o".
std::string uses_text(const engine::Operator& what);

}  // namespace colibri::bench
