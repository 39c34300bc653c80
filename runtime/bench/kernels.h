// SPDX-License-Identifier: Apache-2.0
// Comparing kernel plugins: each operator of a plan, by each plugin that offers it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/bench/limits.h"
#include "runtime/bench/trial.h"
#include "runtime/engine/plan.h"

namespace colibri::bench {

struct KernelTime {
  std::string plugin;
  std::string refusal;          // why it does not compute this; empty = it does
  std::vector<double> seconds;  // of a call, by round
};

// One operator in one phase.
struct KernelCase {
  std::string uses;               // "experts.gate_up"
  std::string description;        // of the operator
  Shape shape;                    // of a call
  Work work;                      // of a call
  std::vector<KernelTime> times;  // by plugin, in the order of negotiation
};

struct KernelReport {
  Limits limits;
  std::vector<KernelCase> cases;
};

// Measures every operator of the plan as it is when one token is decoded and when a chunk of a
// prompt is computed, both at the end of a full context. Plugins take turns in `repeats` rounds,
// and so do the machine's limits. Weights, keys and values are zero, which no kernel treats apart,
// and so many that decoding finds none in a cache.
Result<KernelReport> compare_kernels(const engine::Plan& plan, uint32_t repeats,
                                     const volatile int* cancel);

std::string text(const KernelReport& report);
nlohmann::ordered_json json(const KernelReport& report);

}  // namespace colibri::bench
