// SPDX-License-Identifier: Apache-2.0
// colibri cache replay: what other cache policies and budgets would have hit.
#include "runtime/cli/cache_command.h"

#include <memory>
#include <string>
#include <vector>

#include "runtime/bench/decode_cost.h"
#include "runtime/cli/cache_report.h"
#include "runtime/cli/decode_estimate.h"
#include "runtime/cli/pipeline_options.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/plan.h"
#include "runtime/experts/replay.h"
#include "runtime/experts/store.h"
#include "runtime/machine/profile.h"
#include "runtime/plugin/registry.h"

namespace colibri::cli {
namespace {

constexpr char kInterface[] = "colibri.cache_policy/1";

struct Options {
  std::string trace;
  std::vector<std::string> policies, budgets = {"25%", "50%", "75%", "all"}, options;
  std::string model;  // whose speed is estimated; empty = none's
  bool json = false;
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
  if (Status status = shape.check_budget(bytes); !status.ok()) {
    return status.at("--budgets " + budget);
  }
  return shape.slots_in(bytes);
}

Result<bench::MeasuredCost> measure(const std::string& model, const experts::RouteTrace& trace,
                                    const std::string& file) {
  PipelineOptions options;
  options.pipeline = model;
  COLIBRI_ASSIGN(config::Pipeline pipeline, options.open());
  COLIBRI_ASSIGN(const auto plan, engine::Plan::make(std::move(pipeline)));
  COLIBRI_TRY(check_trace_of(*plan, trace, file));
  return bench::measure_decode_cost(*plan);
}

Status replay(const Options& options) {
  ReplayReport report;
  report.file = options.trace;
  COLIBRI_ASSIGN(report.trace, experts::read_route_trace(options.trace));
  const experts::StoreShape shape = {report.trace.shape, report.trace.bundle_bytes, 0};
  plugin::Request request;
  for (const std::string& option : options.options) COLIBRI_TRY(add_option(option, request));
  COLIBRI_ASSIGN(const machine::Profile profile, machine::Profile::detect());
  COLIBRI_ASSIGN(const auto registry, plugin::Registry::create(request, profile));
  COLIBRI_ASSIGN(const auto policies, open_policies(*registry, options.policies));
  for (const auto& policy : policies) report.policies.push_back(policy->plugin().id());

  for (const std::string& budget : options.budgets) {
    ReplayedBudget row;
    row.budget = budget;
    COLIBRI_ASSIGN(row.slots, slots_in(budget, shape));
    for (const auto& policy : policies) {
      const auto* table = policy->plugin().interface<colibri_cache_policy_1>(kInterface);
      COLIBRI_ASSIGN(
          experts::ReplayResult result,
          experts::replay(report.trace, row.slots, {policy->plugin().id(), table, policy->host()}));
      row.results.push_back(std::move(result));
    }
    row.optimum = experts::belady_hits(report.trace, row.results.front().ruled);
    report.rows.push_back(std::move(row));
  }
  if (!options.model.empty()) {
    COLIBRI_ASSIGN(report.cost, measure(options.model, report.trace, options.trace));
  }
  return print(options.json ? report.json().dump(2) + "\n" : report.text());
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
  replay_command
      ->add_option("-m,--model", options->model,
                   "The model or pipeline of the trace: estimate how many tokens per second it "
                   "decodes on this machine")
      ->type_name("PIPELINE");
  replay_command->add_flag("--json", options->json, "Print one JSON object");
  replay_command->callback([options, &invocation] {
    if (Status status = replay(*options); !status.ok()) invocation.fail(status, kRefused);
  });
}

}  // namespace colibri::cli
