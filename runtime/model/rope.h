// SPDX-License-Identifier: Apache-2.0
// Rotary frequencies, and what scaling for long contexts does to them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/config/architecture.h"
#include "runtime/model/spec.h"

namespace colibri::model {

// The options below `rope` of an architecture document, evaluated.
struct RopeScalingSpec {
  config::RopeScaling kind = config::RopeScaling::kNone;
  double factor = 1, original_tokens = 0;
  double low_freq_factor = 1, high_freq_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;              // yarn, these and the following
  bool truncate = true;
  std::optional<double> attention_factor, mscale, mscale_all;
};

// Fills frequencies and magnitude of a rope whose dims and theta are known. Every step is rounded to
// f32 where transformers (modeling_rope_utils.py) computes with f32 tensors, so that long contexts
// agree with it. YaRN: arXiv:2309.00071.
void compute_frequencies(const RopeScalingSpec& scaling, RopeSpec* rope);

// YaRN's 0.1 * mscale * ln(factor) + 1; 1 for factors up to 1.
double yarn_magnitude(double factor, double mscale);

}  // namespace colibri::model
