// SPDX-License-Identifier: Apache-2.0
// What `colibri cache replay` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/decode_cost.h"
#include "runtime/experts/replay.h"

namespace colibri::cli {

// All policies in one budget.
struct ReplayedBudget {
  std::string budget;
  uint64_t slots = 0;
  std::vector<experts::ReplayResult> results;  // one per policy
  experts::OptimalHits optimum;
};

struct ReplayReport {
  std::string file;
  experts::RouteTrace trace;
  std::vector<std::string> policies;
  std::vector<ReplayedBudget> rows;
  std::optional<bench::MeasuredCost> cost;  // nullopt = no speed is estimated

  std::string text() const;
  nlohmann::ordered_json json() const;

 private:
  template <typename Cell, typename Optimum>
  std::string table(const Cell& cell, const Optimum& optimum) const;
};

}  // namespace colibri::cli
