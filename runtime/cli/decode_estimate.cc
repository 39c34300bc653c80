// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/decode_estimate.h"

#include <cstdio>
#include <utility>

#include "runtime/experts/replay.h"

namespace colibri::cli {
namespace {

Result<experts::MissCounts> replayed_misses(const engine::Plan& plan, const std::string& path) {
  COLIBRI_ASSIGN(const experts::RouteTrace trace, experts::read_route_trace(path));
  COLIBRI_TRY(check_trace_of(plan, trace, path));
  const plugin::Plugin& policy = plan.policy->plugin();
  COLIBRI_ASSIGN(
      experts::ReplayResult result,
      experts::replay(
          trace, plan.memory.slots,
          {policy.id(), policy.interface<colibri_cache_policy_1>("colibri.cache_policy/1"),
           plan.policy->host()}));
  return std::move(result.decode_misses);
}

}  // namespace

Status check_trace_of(const engine::Plan& plan, const experts::RouteTrace& trace,
                      const std::string& file) {
  const experts::RoutingShape& shape = trace.shape;
  if (shape.layers != plan.layers.routed_layers || shape.experts != plan.spec.experts ||
      shape.top_k != plan.spec.top_k) {
    return invalid_argument(file + ": is a trace of another model: it has " +
                            std::to_string(shape.layers) + " layers of " +
                            std::to_string(shape.experts) + " experts, top " +
                            std::to_string(shape.top_k));
  }
  if (trace.asked_in_decoding() == 0) {
    return invalid_argument(file +
                            ": holds no step of a single token, so it tells nothing of "
                            "decoding");
  }
  return {};
}

Result<DecodeEstimate> DecodeEstimate::of(const engine::Plan& plan,
                                          const std::string& route_trace) {
  DecodeEstimate made;
  const engine::MemoryPlan& memory = plan.memory;
  if (!route_trace.empty()) {
    COLIBRI_ASSIGN(const experts::MissCounts misses, replayed_misses(plan, route_trace));
    COLIBRI_ASSIGN(made.cost, bench::measure_decode_cost(plan));
    made.known = true;
    made.hits.least = made.hits.most = experts::hit_rate(misses);
    made.least = made.most = experts::decode_rate(made.cost, misses);
    return made;
  }
  COLIBRI_ASSIGN(made.cost, bench::measure_decode_cost(plan));
  made.known = memory.slots == memory.all_slots();
  const double room = static_cast<double>(memory.slots) / static_cast<double>(memory.all_slots());
  made.hits = made.known ? experts::HitRange{1, 1} : experts::expected_hits(room);
  made.least = experts::decode_rate(made.cost, made.hits.least);
  made.most = experts::decode_rate(made.cost, made.hits.most);
  return made;
}

std::string DecodeEstimate::text() const {
  char text[256];
  if (!known) {
    std::snprintf(text, sizeof(text), "about %.2g to %.2g tokens/s, with %.0f %% to %.0f %% hits",
                  least, most, 100 * hits.least, 100 * hits.most);
  } else if (hits.most < 1) {
    std::snprintf(text, sizeof(text), "about %.3g tokens/s, with %.1f %% hits as in the trace",
                  most, 100 * hits.most);
  } else {
    std::snprintf(text, sizeof(text), "about %.3g tokens/s", most);
  }
  std::string all = text;
  if (hits.most < 1) {
    std::snprintf(text, sizeof(text), "; %.3g with all experts in memory; the disk reads %.2f GB/s",
                  experts::decode_rate(cost, 1), cost.disk_bytes_per_second / 1e9);
    all += text;
    if (!known) all += "; a route trace of the work tells more: --route-trace";
  }
  return all;
}

nlohmann::ordered_json DecodeEstimate::json() const {
  return {{"tokens_per_second",
           {{"least", least}, {"most", most}, {"in_memory", experts::decode_rate(cost, 1)}}},
          {"hit_rate", {{"least", hits.least}, {"most", hits.most}}},
          {"disk_bytes_per_second", cost.disk_bytes_per_second},
          {"expert_load_seconds", cost.load_seconds}};
}

}  // namespace colibri::cli
