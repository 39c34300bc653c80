// SPDX-License-Identifier: Apache-2.0
// Tuning: which settings that never change an answer make a model fastest on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"

namespace colibri::bench {

struct TuneSettings {
  uint32_t prompt_tokens = 1024;
  uint32_t generate_tokens = 64;  // behind the prompt
  uint32_t repeats = 3;           // rounds in which the alternatives take turns
};

// One setting with what it could be, measured.
struct Decision {
  struct Alternative {
    std::string value;
    double seconds = 0;  // the median of the rounds
  };
  std::string key;  // of the pipeline: "threads.decode", "plugins.operators.norm"
  std::vector<Alternative> alternatives;
  size_t initial = 0;  // what the pipeline says, index into alternatives
  size_t chosen = 0;

  bool changed() const { return chosen != initial; }
  const std::string& value() const { return alternatives[chosen].value; }
};

// The least of the medians, if it is lower than the initial one's by more than the noise of such
// measurements; else the initial one. seconds is not empty.
size_t fastest(const std::vector<double>& seconds, size_t initial);

// Measures, one after another and each on top of what was chosen before: the kernel plugin of each
// operator, among those whose results are the same bytes; the threads of a prompt and of a single
// token; the chunk of a prompt. `decided` gets each decision as it falls. What the pipeline pins
// itself stays. Errors: what Plan::make and Model::load refuse, COLIBRI_CANCELLED if *cancel
// becomes non-zero. [setup]
Status tune(const config::Pipeline& pipeline, const TuneSettings& settings,
            const volatile int* cancel, const std::function<void(const Decision&)>& decided);

}  // namespace colibri::bench
