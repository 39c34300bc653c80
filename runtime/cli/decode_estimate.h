// SPDX-License-Identifier: Apache-2.0
// How fast a plan will decode, said before anything is loaded.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/base/status.h"
#include "runtime/bench/decode_cost.h"
#include "runtime/engine/plan.h"
#include "runtime/experts/route_trace.h"

namespace colibri::cli {

// Refuses a trace of another model, and one that tells nothing of decoding. file: its name.
Status check_trace_of(const engine::Plan& plan, const experts::RouteTrace& trace,
                      const std::string& file);

struct DecodeEstimate {
  bench::MeasuredCost cost;
  // The same twice if they are known.
  experts::HitRange hits;
  double least = 0, most = 0;  // tokens per second
  bool known = false;          // all experts fit, or a route trace tells the hits

  // Measures the machine. route_trace: of the same kind of work; empty = there is none. Errors:
  // those of measuring; a trace that is not of this model.
  static Result<DecodeEstimate> of(const engine::Plan& plan, const std::string& route_trace);
  std::string text() const;
  nlohmann::ordered_json json() const;
};

}  // namespace colibri::cli
