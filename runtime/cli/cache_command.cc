// SPDX-License-Identifier: Apache-2.0
// colibri cache replay: what other cache policies and budgets would have hit.
#include "runtime/cli/cache_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/config/pipeline.h"
#include "runtime/experts/replay.h"
#include "runtime/experts/store.h"
#include "runtime/machine/profile.h"
#include "runtime/plugin/registry.h"

namespace colibri::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr char kInterface[] = "colibri.cache_policy/1";

struct Options {
  std::string trace;
  std::vector<std::string> policies, budgets = {"25%", "50%", "75%", "all"}, options;
  bool json = false;
};

// One budget.
struct Row {
  std::string budget;
  uint64_t slots = 0;
  std::vector<experts::ReplayResult> results;  // one per policy
  uint64_t optimum = 0;                        // hits
};

// "lfu.half_life=8" as plugins.options of a pipeline.
Status add_option(const std::string& text, plugin::Request& request) {
  COLIBRI_ASSIGN(const config::Override parsed, config::parse_override(text));
  const size_t dot = parsed.key.find('.');
  if (dot == std::string::npos) {
    return invalid_argument("--option " + text + ": is not PLUGIN.NAME=VALUE");
  }
  config::Value& map = request.options[parsed.key.substr(0, dot)];
  map.kind = config::Value::Kind::kMap;
  map.position = config::position_of_name("--option");
  config::Value value;
  value.kind = config::Value::Kind::kScalar;
  value.key = parsed.key.substr(dot + 1);
  value.text = parsed.value;
  value.position = value.key_position = map.position;
  std::erase_if(map.children, [&](const config::Value& old) { return old.key == value.key; });
  map.children.push_back(std::move(value));
  return {};
}

// The policies asked for, or all whose options are complete.
Result<std::vector<std::unique_ptr<plugin::Instance>>> open_policies(
    const plugin::Registry& registry, const std::vector<std::string>& ids) {
  std::vector<std::shared_ptr<const plugin::Plugin>> plugins;
  for (const std::string& id : ids) {
    COLIBRI_ASSIGN(auto found, registry.find(kInterface, id));
    plugins.push_back(std::move(found));
  }
  if (ids.empty()) {
    plugins = registry.offers(kInterface);
    std::erase_if(plugins, [](const auto& each) {
      return each->options().size() < each->manifest().options.size();
    });
    if (plugins.empty()) return not_found(registry.explain(kInterface));
  }
  std::vector<std::unique_ptr<plugin::Instance>> instances;
  for (auto& each : plugins) {
    const std::string key = "plugins.options." + each->id();
    COLIBRI_ASSIGN(auto instance, plugin::Instance::create(std::move(each), config::Value(), key));
    instances.push_back(std::move(instance));
  }
  return instances;
}

Result<uint64_t> slots_in(const std::string& budget, const experts::StoreShape& shape) {
  COLIBRI_ASSIGN(const config::Budget parsed, config::parse_budget(budget));
  if (parsed.kind == config::Budget::Kind::kAuto) {
    return invalid_argument(
        "--budgets auto: a replay knows no machine; give all, a size or a percentage");
  }
  const uint64_t bytes = parsed.of(shape.all_bytes());
  if (bytes < shape.floor_bytes()) {
    return invalid_argument("--budgets " + budget + ": " + std::to_string(bytes) +
                            " bytes are below the floor of two experts, " +
                            std::to_string(shape.floor_bytes()) + " bytes");
  }
  return shape.slots_in(bytes);
}

double rate(uint64_t hits, uint64_t asked) {
  return static_cast<double>(hits) / static_cast<double>(asked);
}

Json to_json(const experts::RouteTrace& trace, const std::string& file,
             const std::vector<std::unique_ptr<plugin::Instance>>& policies,
             const std::vector<Row>& rows) {
  const uint64_t asked = trace.experts.size();
  Json points = Json::array();
  for (const Row& row : rows) {
    Json curves = Json::object();
    for (size_t i = 0; i < policies.size(); ++i) {
      const experts::Counters& counters = row.results[i].counters;
      curves[policies[i]->plugin().id()] = {{"hits", counters.hits},
                                            {"misses", counters.misses},
                                            {"loads", counters.loads},
                                            {"evictions", counters.evictions},
                                            {"hit_rate", rate(counters.hits, asked)}};
    }
    points.push_back({{"budget", row.budget},
                      {"slots", row.slots},
                      {"guarded", row.results.front().guarded},
                      {"policies", curves},
                      {"belady", {{"hits", row.optimum}, {"hit_rate", rate(row.optimum, asked)}}}});
  }
  return {{"trace",
           {{"file", file},
            {"layers", trace.shape.layers},
            {"experts", trace.shape.experts},
            {"top_k", trace.shape.top_k},
            {"bundle_bytes", trace.bundle_bytes},
            {"visits", trace.visits.size()},
            {"asked", asked},
            {"working_set", trace.shape.working_set()}}},
          {"points", points}};
}

std::string to_text(const experts::RouteTrace& trace,
                    const std::vector<std::unique_ptr<plugin::Instance>>& policies,
                    const std::vector<Row>& rows) {
  const auto cell = [](std::string text) {
    text.resize(std::max<size_t>(text.size() + 1, 9), ' ');
    return text;
  };
  const auto percent = [&](uint64_t hits) {
    char text[16];
    std::snprintf(text, sizeof(text), "%.1f %%", 100 * rate(hits, trace.experts.size()));
    return cell(text);
  };
  const experts::RoutingShape& shape = trace.shape;
  std::string text = std::to_string(shape.layers) + " layers of " + std::to_string(shape.experts) +
                     " experts of " + human_bytes(trace.bundle_bytes) + "; a token needs " +
                     std::to_string(shape.working_set()) + "; " +
                     std::to_string(trace.visits.size()) + " visits ask for " +
                     std::to_string(trace.experts.size()) + "\n\n" + cell("budget") + cell("slots");
  for (const auto& policy : policies) text += cell(policy->plugin().id());
  text += "belady\n";
  bool any_guarded = false;
  for (const Row& row : rows) {
    const bool guarded = row.results.front().guarded;
    any_guarded = any_guarded || guarded;
    text += cell(row.budget) + cell(std::to_string(row.slots) + (guarded ? "*" : ""));
    for (size_t i = 0; i < policies.size(); ++i) {
      std::string padded = percent(row.results[i].counters.hits);
      padded.resize(std::max(padded.size(), policies[i]->plugin().id().size() + 1), ' ');
      text += padded;
    }
    text += percent(row.optimum);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  if (any_guarded) {
    text += "\n* less than a token needs: a resident stays until its layer passes it by unused\n";
  }
  return text;
}

Status replay(const Options& options) {
  COLIBRI_ASSIGN(const experts::RouteTrace trace, experts::read_route_trace(options.trace));
  const experts::StoreShape shape = {trace.shape, trace.bundle_bytes, 0};
  plugin::Request request;
  for (const std::string& option : options.options) COLIBRI_TRY(add_option(option, request));
  COLIBRI_ASSIGN(const machine::Profile profile, machine::Profile::detect());
  COLIBRI_ASSIGN(const auto registry, plugin::Registry::create(request, profile));
  COLIBRI_ASSIGN(const auto policies, open_policies(*registry, options.policies));

  std::vector<Row> rows;
  for (const std::string& budget : options.budgets) {
    Row row;
    row.budget = budget;
    COLIBRI_ASSIGN(row.slots, slots_in(budget, shape));
    for (const auto& policy : policies) {
      const auto* table = policy->plugin().interface<colibri_cache_policy_1>(kInterface);
      COLIBRI_ASSIGN(
          experts::ReplayResult result,
          experts::replay(trace, row.slots, {policy->plugin().id(), table, policy->host()}));
      row.results.push_back(result);
    }
    row.optimum = experts::belady_hits(trace, row.results.front().ruled);
    rows.push_back(std::move(row));
  }
  return print(options.json ? to_json(trace, options.trace, policies, rows).dump(2) + "\n"
                            : to_text(trace, policies, rows));
}

}  // namespace

void add_cache_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("cache", "Look at what the expert store keeps");
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  CLI::App* replay_command = command->add_subcommand(
      "replay", "Hit rates of cache policies and budgets on a recorded route trace");
  replay_command
      ->add_option("TRACE", options->trace, "A route trace: colibri run --route-trace FILE")
      ->required();
  replay_command
      ->add_option("--policies", options->policies,
                   "Cache policies, by id; without it, all that need no option")
      ->delimiter(',')
      ->type_name("ID,...");
  replay_command
      ->add_option("--budgets", options->budgets,
                   "Budgets as experts.budget takes them; 25%,50%,75%,all without it")
      ->delimiter(',')
      ->type_name("BUDGET,...");
  replay_command
      ->add_option("--option", options->options, "An option of a policy, e.g. lfu.half_life=32")
      ->expected(1)
      ->take_all()
      ->type_name("ID.NAME=VALUE");
  replay_command->add_flag("--json", options->json, "Print one JSON object");
  replay_command->callback([options, &invocation] {
    if (Status status = replay(*options); !status.ok()) invocation.fail(status, kRefused);
  });
}

}  // namespace colibri::cli
