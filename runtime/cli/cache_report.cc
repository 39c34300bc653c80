// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/cache_report.h"

#include <algorithm>
#include <cstdio>

#include "runtime/base/memory.h"

namespace colibri::cli {
namespace {

using Json = nlohmann::ordered_json;

double share(uint64_t hits, uint64_t asked) {
  return static_cast<double>(hits) / static_cast<double>(asked);
}

std::string padded(std::string text, size_t name) {
  text.resize(std::max({text.size() + 1, name + 1, size_t{9}}), ' ');
  return text;
}

template <typename Value>
std::string formatted(const char* format, Value value) {
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

}  // namespace

// A line for each budget: the cell of each policy's result, then that of the optimum.
template <typename Cell, typename Optimum>
std::string ReplayReport::table(const Cell& cell, const Optimum& optimum) const {
  std::string text = padded("budget", 0) + padded("slots", 0);
  for (const std::string& policy : policies) text += padded(policy, 0);
  text += "belady\n";
  for (const ReplayedBudget& row : rows) {
    const bool guarded = row.results.front().guarded;
    text += padded(row.budget, 0) + padded(std::to_string(row.slots) + (guarded ? "*" : ""), 0);
    for (size_t i = 0; i < policies.size(); ++i) {
      text += padded(cell(row.results[i]), policies[i].size());
    }
    text += optimum(row.optimum) + "\n";
  }
  return text;
}

std::string ReplayReport::text() const {
  const experts::RoutingShape& shape = trace.shape;
  const uint64_t asked = trace.experts.size();
  std::string text = std::to_string(shape.layers) + " layers of " + std::to_string(shape.experts) +
                     " experts of " + human_bytes(trace.bundle_bytes) + "; a token needs " +
                     std::to_string(shape.working_set()) + "; " +
                     std::to_string(trace.visits.size()) + " visits ask for " +
                     std::to_string(asked) + "\n\n";
  const auto percent = [&](uint64_t hits) {
    return formatted("%.1f %%", 100 * share(hits, asked));
  };
  text += table([&](const experts::ReplayResult& result) { return percent(result.counters.hits); },
                [&](const experts::OptimalHits& hits) { return percent(hits.all); });
  if (cost) {
    text += "\ntokens per second of decoding, about; with all experts in memory " +
            formatted("%.3g", experts::decode_rate(*cost, 1)) + "; the disk reads " +
            formatted("%.2f GB/s", cost->disk_bytes_per_second / 1e9) + "\n\n";
    const auto rate = [&](const auto& result) {
      return formatted("%.3g", experts::decode_rate(*cost, result.decode_misses));
    };
    text += table(rate, rate);
  }
  if (std::any_of(rows.begin(), rows.end(),
                  [](const ReplayedBudget& row) { return row.results.front().guarded; })) {
    text += "\n* less than a token needs: a resident stays until its layer passes it by unused\n";
  }
  return text;
}

Json ReplayReport::json() const {
  const uint64_t asked = trace.experts.size();
  const auto add_rate = [&](Json& to, const experts::MissCounts& decode_misses) {
    if (cost) to["decode_tokens_per_second"] = experts::decode_rate(*cost, decode_misses);
  };
  Json points = Json::array();
  for (const ReplayedBudget& row : rows) {
    Json curves = Json::object();
    for (size_t i = 0; i < policies.size(); ++i) {
      const experts::Counters& counters = row.results[i].counters;
      Json& curve = curves[policies[i]];
      curve = {{"hits", counters.hits},
               {"misses", counters.misses},
               {"loads", counters.loads},
               {"evictions", counters.evictions},
               {"hit_rate", share(counters.hits, asked)}};
      add_rate(curve, row.results[i].decode_misses);
    }
    Json belady = {{"hits", row.optimum.all}, {"hit_rate", share(row.optimum.all, asked)}};
    add_rate(belady, row.optimum.decode_misses);
    points.push_back({{"budget", row.budget},
                      {"slots", row.slots},
                      {"ruled", row.results.front().ruled},
                      {"guarded", row.results.front().guarded},
                      {"policies", curves},
                      {"belady", belady}});
  }
  Json all = {{"trace",
               {{"file", file},
                {"layers", trace.shape.layers},
                {"experts", trace.shape.experts},
                {"top_k", trace.shape.top_k},
                {"bundle_bytes", trace.bundle_bytes},
                {"visits", trace.visits.size()},
                {"asked", asked},
                {"working_set", trace.shape.working_set()}}},
              {"points", points}};
  if (cost) {
    all["machine"] = {{"in_memory_tokens_per_second", experts::decode_rate(*cost, 1)},
                      {"disk_bytes_per_second", cost->disk_bytes_per_second},
                      {"expert_load_seconds", cost->load_seconds}};
  }
  return all;
}

}  // namespace colibri::cli
