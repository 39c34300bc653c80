// SPDX-License-Identifier: Apache-2.0
// How fast this machine can multiply and add: the limits that a prefill is compared with.
#pragma once

#include "runtime/base/thread_pool.h"
#include "runtime/machine/cpu_features.h"

namespace colibri::machine {

// Operations per second; a product and the sum it goes to are two.
struct ComputeRates {
  double int8 = 0;  // int8 products summed to int32
  double f32 = 0;
};

// The best that `threads` threads of the pool reach with the instructions of these features on
// registers alone, no memory read. Takes some hundredths of a second. [one caller of the pool at a
// time]
ComputeRates measure_compute_rates(ThreadPool& pool, unsigned threads, const FeatureSet& features);

}  // namespace colibri::machine
