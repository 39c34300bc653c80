// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/replay.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace colibri::experts {
namespace {

Status run_visit(Residency& residency, Demand& demand, uint64_t step, uint32_t layer,
                 std::span<const int32_t> experts) {
  COLIBRI_TRY(residency.begin(demand, step, layer, experts));
  while (!demand.held.empty() || !demand.loading.empty()) {
    COLIBRI_TRY(residency.release(demand));
    residency.loaded(demand, demand.loading.size());
  }
  if (demand.missing.empty()) return {};
  return internal_error("replay: a lone visitor waits for a slot");
}

// As Store::load_all() does.
Status load_all(Residency& residency, Demand& demand) {
  std::vector<int32_t> experts(residency.shape().experts);
  for (size_t i = 0; i < experts.size(); ++i) experts[i] = static_cast<int32_t>(i);
  for (uint32_t layer = 0; layer < residency.shape().layers; ++layer) {
    COLIBRI_TRY(run_visit(residency, demand, 0, layer, experts));
  }
  residency.forget_counters();
  return {};
}

}  // namespace

Result<ReplayResult> replay(const RouteTrace& trace, uint64_t slots, PolicyPlugin policy) {
  if (slots > trace.shape.keys() || (slots < 2 && slots < trace.shape.keys())) {
    return invalid_argument("replay: " + std::to_string(slots) + " slots; from 2 to " +
                            std::to_string(trace.shape.keys()) + " can be replayed");
  }
  COLIBRI_ASSIGN(Residency residency, Residency::create(trace.shape, slots, std::move(policy)));
  Demand demand(trace.shape);
  if (residency.holds_all()) COLIBRI_TRY(load_all(residency, demand));
  MissCounts decode_misses(trace.shape.top_k + 1);
  for (const RouteTrace::Visit& visit : trace.visits) {
    const uint64_t before = residency.counters().misses;
    COLIBRI_TRY(run_visit(residency, demand, visit.step, visit.layer, trace.experts_of(visit)));
    if (visit.tokens == 1) ++decode_misses[residency.counters().misses - before];
  }
  return ReplayResult{residency.ruled(), residency.guarded(), residency.counters(),
                      std::move(decode_misses)};
}

OptimalHits belady_hits(const RouteTrace& trace, uint64_t ruled) {
  const auto key_of = [&](const RouteTrace::Visit& visit, uint64_t i) {
    return visit.layer * trace.shape.experts + static_cast<uint32_t>(trace.experts[i]);
  };
  // For each use the visit of the next one.
  constexpr uint64_t kNever = UINT64_MAX;
  std::vector<uint64_t> next_use(trace.experts.size());
  std::vector<uint64_t> upcoming(trace.shape.keys(), kNever);
  for (uint64_t v = trace.visits.size(); v-- > 0;) {
    const RouteTrace::Visit& visit = trace.visits[v];
    for (uint64_t i = visit.begin; i < visit.end; ++i) {
      next_use[i] = std::exchange(upcoming[key_of(visit, i)], v);
    }
  }
  const bool all_stay = ruled == trace.shape.keys();  // and are there before the first visit
  std::set<std::pair<uint64_t, uint32_t>> residents;  // by their next use
  OptimalHits hits;
  hits.decode_misses.resize(trace.shape.top_k + 1);
  for (uint64_t v = 0; v < trace.visits.size(); ++v) {
    const RouteTrace::Visit& visit = trace.visits[v];
    uint64_t misses = 0;
    for (uint64_t i = visit.begin; i < visit.end; ++i) {
      const uint32_t key = key_of(visit, i);
      const bool hit = residents.erase({v, key}) > 0 || all_stay;
      ++(hit ? hits.all : misses);
      if (next_use[i] != kNever) residents.insert({next_use[i], key});
    }
    if (visit.tokens == 1) ++hits.decode_misses[misses];
    while (residents.size() > ruled) residents.erase(std::prev(residents.end()));
  }
  return hits;
}

}  // namespace colibri::experts
