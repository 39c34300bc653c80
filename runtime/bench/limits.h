// SPDX-License-Identifier: Apache-2.0
// The limits of the machine that a model's speed is compared with.
#pragma once

#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/bench/work.h"
#include "runtime/machine/compute_rate.h"
#include "runtime/machine/profile.h"

namespace colibri::bench {

struct Limits {
  double read = 0;  // bytes per second
  machine::ComputeRates rates;

  // Measures again and keeps what is better: a shared machine is sometimes slower than it is.
  // bytes: that a token reads. [one caller of the pool at a time]
  Status measure(ThreadPool& pool, uint64_t bytes, const machine::Profile& profile);
};

// Shares of the limits that work takes when it is done in `seconds`; 1 = nothing could be faster.
struct Fractions {
  double read = 0, int8 = 0, f32 = 0;

  static Fractions of(const Work& work, double seconds, const Limits& limits);
};

}  // namespace colibri::bench
