// SPDX-License-Identifier: Apache-2.0
// colibri plan: what would be run, by which plugins and in how much memory, and why.
#include "runtime/cli/plan_command.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/cli/decode_estimate.h"
#include "runtime/cli/pipeline_options.h"
#include "runtime/engine/plan.h"
#include "runtime/model/codecs.h"
#include "runtime/plugin/operator_text.h"

namespace colibri::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions {
  PipelineOptions pipeline;
  std::string route_trace;  // file; empty = none
  bool json = false;
};

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// Where a setting comes from, to stand behind it: " (plc.yaml:4:16)"; empty for a default.
std::string origin(const engine::Plan& plan, const std::string& key) {
  const config::Value* value = plan.pipeline.effective.at(key);
  if (value == nullptr || plan.pipeline.place(key).ends_with("(default)")) return "";
  return " (" + value->position.text() + ")";
}

std::string pin_of(const engine::Operator& made) {
  return std::string("plugins.operators.") + plugin::operator_name(made.asked().get().op);
}

Json operators_of(const engine::Plan& plan) {
  Json all = Json::array();
  for (const auto& made : plan.operators->all()) {
    Json refusals = Json::array();
    for (const auto& refusal : made->choice().refusals) {
      refusals.push_back({{"plugin", refusal.plugin_id}, {"reason", refusal.reason}});
    }
    all.push_back({{"uses", made->uses()},
                   {"operator", made->description()},
                   {"plugin", made->choice().plugin->id()},
                   {"refused", refusals}});
  }
  return all;
}

std::string experts_place(const engine::Plan& plan) {
  const uint64_t there = plan.device_memory.slots, all = plan.all_experts();
  if (there == all) return "";
  if (there == 0) return ", experts on the cpu";
  return ", with " + std::to_string(there) + " of " + std::to_string(all) +
         " experts, the others on the cpu";
}

// null without a device.
Json device_of(const engine::Plan& plan) {
  if (plan.device == nullptr) return {};
  const engine::DeviceMemoryPlan& there = plan.device_memory;
  return {{"name", plan.device->name()},
          {"experts", there.slots},
          {"description", plan.device->info().name},
          {"architecture", plan.device->info().architecture},
          {"memory",
           {{"weights", there.dense},
            {"experts", there.experts},
            {"rope", there.rope},
            {"kv", there.kv},
            {"workspace", there.workspace},
            {"scratch", there.scratch},
            {"total", there.total()},
            {"granted", there.granted}}}};
}

Json samplers_of(const engine::Plan& plan) {
  Json all = Json::array();
  for (const auto& choice : plan.pipeline.sampling) all.push_back(choice.plugin);
  return all;
}

Json document(const engine::Plan& plan) {
  const engine::MemoryPlan& memory = plan.memory;
  return {
      {"pipeline", plan.pipeline.name},
      {"model",
       {{"path", plan.pipeline.model.path.string()},
        {"format", plan.format_plugin},
        {"architecture", plan.spec.architecture},
        {"layers", plan.spec.layers.size()},
        {"experts", plan.spec.experts},
        {"top_k", plan.spec.top_k},
        {"parameters", plan.spec.parameters()},
        {"active_parameters", plan.spec.active_parameters()}}},
      {"tokenizer", plan.tokenizer == nullptr ? Json() : Json(plan.tokenizer->plugin_id())},
      {"placement",
       {{"device", device_of(plan)},
        {"refused", plan.why_not_there.empty() ? Json() : Json(plan.why_not_there)}}},
      {"threads", plan.threads},
      {"decode_threads", plan.decode_threads},
      {"context",
       {{"max_tokens", plan.max_tokens},
        {"kv", model::codec_name(plan.pipeline.context.kv)},
        {"prefill_chunk", plan.max_rows}}},
      {"experts",
       {{"policy", plan.policy->plugin().id()},
        {"reads", plan.expert_files ? Json(plan.expert_files->text()) : Json()},
        {"slots", memory.slots},
        {"of", memory.all_slots()},
        {"read_ahead", memory.ahead},
        {"slot_bytes", memory.slot}}},
      {"sampling", samplers_of(plan)},
      {"generate",
       {{"max_tokens", plan.pipeline.generate.max_tokens},
        {"stop", plan.pipeline.generate.stop},
        {"seed", plan.pipeline.generate.seed},
        {"eos", plan.spec.eos}}},
      {"operators", operators_of(plan)},
      {"memory",
       {{"weights", memory.dense},
        {"experts", memory.experts},
        {"rope", memory.rope},
        {"kv", memory.kv},
        {"workspace", memory.workspace},
        {"scratch", memory.scratch},
        {"total", memory.total()},
        {"process", memory.process},
        {"peak", memory.peak()},
        {"available", memory.available}}},
  };
}

std::string text(const engine::Plan& plan) {
  const engine::MemoryPlan& memory = plan.memory;
  std::string out;
  const auto line = [&](const char* name, const std::string& value) {
    char head[32];
    std::snprintf(head, sizeof(head), "%-12s ", name);
    out += head + value + "\n";
  };
  const auto bytes = [](uint64_t n) {
    return human_bytes(n) + " (" + std::to_string(n) + " bytes)";
  };
  line("model", plan.pipeline.model.path.string());
  line("format", plan.format_plugin);
  line("architecture",
       plan.spec.architecture + ", " + std::to_string(plan.spec.layers.size()) + " layers, " +
           (memory.slot == 0 ? "no experts"
                             : std::to_string(plan.spec.experts) + " experts, top " +
                                   std::to_string(plan.spec.top_k)));
  line("tokenizer", plan.tokenizer == nullptr ? "none" : plan.tokenizer->plugin_id());
  line("placement",
       (plan.device == nullptr ? "cpu"
                               : plan.device->name() + " (" + plan.device->info().name + ", " +
                                     plan.device->info().architecture + ")" + experts_place(plan)) +
           origin(plan, "placement") +
           (plan.why_not_there.empty() ? "" : "; not " + plan.why_not_there));
  line("threads", std::to_string(plan.threads) + " of " +
                      std::to_string(plan.profile.usable_cores) + " usable cores" +
                      origin(plan, "threads.count") + ", " + std::to_string(plan.decode_threads) +
                      " for a single token" + origin(plan, "threads.decode"));
  line("context", std::to_string(plan.max_tokens) + " tokens, keys and values " +
                      model::codec_name(plan.pipeline.context.kv) + ", prompt in chunks of " +
                      std::to_string(plan.max_rows) + origin(plan, "context.prefill_chunk"));
  if (plan.layers.routed_layers > 0 && plan.layers.store_layers == 0) {
    line("experts", std::to_string(plan.device_memory.slots) + " on " + plan.device->name() + ", " +
                        bytes(memory.slot) + " each");
  } else if (memory.slot > 0) {
    line("experts", std::to_string(memory.slots) + " of " + std::to_string(memory.all_slots()) +
                        " in memory, " + bytes(memory.slot) + " each, policy " +
                        plan.policy->plugin().id());
    line("reads", plan.expert_files->text() +
                      (memory.ahead == 0 ? "" : "; " + std::to_string(memory.ahead) + " ahead"));
  }
  std::vector<std::string> chain;
  for (const auto& choice : plan.pipeline.sampling) chain.push_back(choice.plugin);
  line("sampling", chain.empty() ? "greedy" : joined(chain));
  line("generate", "up to " + std::to_string(plan.pipeline.generate.max_tokens) + " tokens, seed " +
                       std::to_string(plan.pipeline.generate.seed));
  out += "operators\n";
  for (const auto& made : plan.operators->all()) {
    out += "  " + made->choice().plugin->id() + origin(plan, pin_of(*made)) + ": " +
           made->description() + "\n      for " + joined(made->uses()) + "\n";
    for (const auto& refusal : made->choice().refusals) {
      out += "      not " + refusal.plugin_id + ": " + refusal.reason + "\n";
    }
  }
  const auto part = [&](const char* name, uint64_t n) {
    char head[32];
    std::snprintf(head, sizeof(head), "  %-10s ", name);
    out += head + bytes(n) + "\n";
  };
  // The parts of a MemoryPlan and of a DeviceMemoryPlan.
  const auto parts = [&](const auto& of) {
    part("weights", of.dense);
    part("experts", of.experts);
    part("rope", of.rope);
    part("kv", of.kv);
    part("workspace", of.workspace);
    part("scratch", of.scratch);
    part("total", of.total());
  };
  if (plan.device != nullptr) {
    out += "memory of " + plan.device->name() + "\n";
    parts(plan.device_memory);
    part("granted", plan.device_memory.granted);
  }
  out += "memory\n";
  parts(memory);
  part("process", memory.process);
  part("peak", memory.peak());
  part("available", memory.available);
  return out;
}

Status plan(const PlanOptions& options) {
  COLIBRI_ASSIGN(config::Pipeline pipeline, options.pipeline.open());
  COLIBRI_ASSIGN(const auto made, engine::Plan::make(std::move(pipeline)));
  const bool on_cpu = made->device == nullptr;
  if (!on_cpu && !options.route_trace.empty()) {
    return unsupported("--route-trace: what a device computes is measured by colibri bench");
  }
  const auto decode =
      on_cpu ? DecodeEstimate::of(*made, options.route_trace)
             : Result<DecodeEstimate>(unsupported("a device is measured by colibri bench"));
  // The plan is good without what a full memory does not let it measure.
  const bool measured = decode.ok();
  if (!measured && on_cpu && decode.status().code() != COLIBRI_OUT_OF_MEMORY) {
    return decode.status();
  }
  if (options.json) {
    Json all = document(*made);
    all["decode"] = measured ? decode->json() : Json();
    COLIBRI_TRY(print(all.dump(2) + "\n"));
  } else {
    COLIBRI_TRY(print(text(*made) + "decode       " +
                      (measured ? decode->text() : "unknown: " + decode.status().text()) + "\n"));
  }
  return made->check_memory();
}

}  // namespace

void add_plan_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan", "Show what would be run, by which plugins, in how much memory, how fast");
  options->pipeline.add_to(*command);
  options->pipeline.add_settings_to(*command);
  command
      ->add_option("--route-trace", options->route_trace,
                   "A route trace of the same kind of work, to tell how fast it streams: colibri "
                   "run --route-trace FILE")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &invocation] {
    if (Status status = plan(*options); !status.ok()) invocation.fail(status, kRefused);
  });
}

}  // namespace colibri::cli
