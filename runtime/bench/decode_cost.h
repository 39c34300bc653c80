// SPDX-License-Identifier: Apache-2.0
// What decoding a token of a plan takes on this machine, found out in about a second without loading
// the model.
#pragma once

#include "runtime/base/status.h"
#include "runtime/engine/plan.h"
#include "runtime/experts/estimate.h"

namespace colibri::bench {

struct MeasuredCost : experts::DecodeCost {
  double disk_bytes_per_second = 0;  // 0 = no layer has experts
};

// Computes each operator of the plan with weights of zero, reads the model's largest file at
// scattered places, and loads an expert. Behind 512 tokens, or as many as the context has. Errors:
// what reading the model gives, and COLIBRI_OUT_OF_MEMORY.
Result<MeasuredCost> measure_decode_cost(const engine::Plan& plan);

}  // namespace colibri::bench
