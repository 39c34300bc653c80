// SPDX-License-Identifier: Apache-2.0
// colibri plugins: which plugins there are, what became of each and why, and whether one keeps its
// promises.
#include "runtime/cli/plugins_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/config/pipeline.h"
#include "runtime/machine/profile.h"
#include "runtime/plugin/candidates.h"
#include "runtime/plugin/check.h"
#include "runtime/plugin/registry.h"
#include "tests/conformance/kernel_conformance.h"

namespace colibri::cli {
namespace {

using Json = nlohmann::ordered_json;
using plugin::CheckResult;
using plugin::Decision;
using plugin::Manifest;
using plugin::OptionSpec;

struct Options {
  std::string pipeline;
  std::string file;
  bool json = false;
};

template <typename Strings>
std::string joined(const Strings& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

// ---- list

Json to_json(const Decision& decision) {
  return {{"id", decision.id},
          {"version", decision.version},
          {"file", decision.file},
          {"interfaces", decision.interfaces},
          {"rank", decision.rank},
          {"numerics", plugin::numerics_name(decision.numerics)},
          {"accepted", decision.accepted},
          {"reason", decision.reason}};
}

Json to_json(const machine::Profile& profile) {
  return {{"architecture", profile.architecture},
          {"cpu_features", profile.cpu_features},
          {"isa_limit", profile.isa_limit}};
}

std::string to_text(const Decision& decision) {
  std::string text = decision.accepted ? "usable   " : "refused  ";
  if (!decision.id.empty()) {
    text += decision.id + " " + decision.version + ", rank " + std::to_string(decision.rank);
    if (decision.numerics != 0) {
      text += std::string(", ") + plugin::numerics_name(decision.numerics);
    }
    text += ": " + joined(decision.interfaces, ", ") + "\n         ";
  }
  text += decision.file + "\n";
  if (!decision.accepted) text += "         " + decision.reason + "\n";
  return text;
}

Status list(const Options& options) {
  plugin::Request request;
  if (!options.pipeline.empty()) {
    COLIBRI_ASSIGN(const config::Pipeline pipeline, config::open_pipeline(options.pipeline));
    request = plugin::Request::from(pipeline);
  }
  COLIBRI_ASSIGN(const machine::Profile profile, machine::Profile::detect());
  COLIBRI_ASSIGN(const auto registry, plugin::Registry::create(request, profile));
  if (options.json) {
    Json plugins = Json::array();
    for (const Decision& decision : registry->decisions()) plugins.push_back(to_json(decision));
    return print(Json{{"machine", to_json(profile)}, {"plugins", plugins}}.dump(2) + "\n");
  }
  std::string text =
      "machine  " + profile.architecture + " with " + joined(profile.cpu_features, " ") +
      (profile.isa_limit.empty() ? "" : " (COLIBRI_MAX_ISA=" + profile.isa_limit + ")") + "\n";
  for (const Decision& decision : registry->decisions()) text += to_text(decision);
  if (registry->decisions().empty()) text += "no plugins found\n";
  return print(text);
}

// ---- inspect

Json to_json(const OptionSpec& option) {
  Json json = {{"name", option.name}, {"type", plugin::name_of(option.type)}};
  const auto add = [&](const char* key, const std::optional<plugin::OptionValue>& value) {
    if (value) std::visit([&](const auto& typed) { json[key] = typed; }, *value);
  };
  add("default", option.default_value);
  add("min", option.min);
  add("max", option.max);
  if (!option.values.empty()) json["values"] = option.values;
  json["doc"] = option.doc;
  return json;
}

Json to_json(const Manifest& manifest, const std::string& why_not) {
  Json declared = Json::array();
  for (const OptionSpec& option : manifest.options) declared.push_back(to_json(option));
  return {{"id", manifest.id},
          {"version", manifest.version},
          {"abi", std::to_string(manifest.abi_major) + "." + std::to_string(manifest.abi_minor)},
          {"interfaces", manifest.interfaces},
          {"requires",
           {{"arch", manifest.architecture},
            {"cpu", manifest.cpu_features},
            {"cuda", manifest.cuda_architectures}}},
          {"rank", manifest.rank},
          {"numerics", plugin::numerics_name(manifest.numerics)},
          {"options", declared},
          {"suits_this_machine", why_not.empty()},
          {"reason", why_not}};
}

std::string to_text(const OptionSpec& option) {
  std::string text = "option      " + option.name + ": " + plugin::name_of(option.type);
  if (option.default_value) text += ", default " + plugin::text_of(*option.default_value);
  if (!option.default_value) text += ", to be given";
  if (option.min) text += ", at least " + plugin::text_of(*option.min);
  if (option.max) text += ", at most " + plugin::text_of(*option.max);
  if (!option.values.empty()) text += ", one of " + joined(option.values, ", ");
  return text + "\n            " + option.doc + "\n";
}

std::string to_text(const Manifest& manifest, const std::string& why_not) {
  std::string text = manifest.id + " " + manifest.version + "\n";
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(12, ' ');
    text += name + value + "\n";
  };
  line("abi", std::to_string(manifest.abi_major) + "." + std::to_string(manifest.abi_minor));
  line("interfaces", joined(manifest.interfaces, ", "));
  line("for", manifest.architecture);
  if (!manifest.cpu_features.empty()) line("needs", joined(manifest.cpu_features, " "));
  if (!manifest.cuda_architectures.empty()) {
    std::string cuda;
    for (const uint32_t architecture : manifest.cuda_architectures)
      cuda += (cuda.empty() ? "sm_" : " sm_") + std::to_string(architecture);
    line("CUDA code", cuda);
  }
  line("rank", std::to_string(manifest.rank));
  if (manifest.numerics != 0) line("numerics", plugin::numerics_name(manifest.numerics));
  for (const OptionSpec& option : manifest.options) text += to_text(option);
  if (!why_not.empty()) return text + "does not suit this machine: " + why_not + "\n";
  return text + (manifest.cuda_architectures.empty()
                     ? "suits this machine\n"
                     : "suits this machine, if it has a GPU for this code: see plugins list\n");
}

Status inspect(const Options& options) {
  const Result<Manifest> manifest = plugin::read_manifest(options.file);
  if (!manifest.ok()) return manifest.status().at(options.file);
  COLIBRI_ASSIGN(const machine::Profile profile, machine::Profile::detect());
  const std::string why_not = plugin::why_not_here(*manifest, profile);
  return print(options.json ? to_json(*manifest, why_not).dump(2) + "\n"
                            : to_text(*manifest, why_not));
}

// ---- check

Status check_numerics(const plugin::Plugin& checked) {
  const auto* table = checked.interface<colibri_kernels_0>("colibri.kernels/0");
  if (table == nullptr) return unsupported("offers no kernels");
  if (table->numerics != COLIBRI_NUMERICS_IDENTICAL) {
    return unsupported("does not promise the reference's bytes");
  }
  if (checked.manifest().offers("colibri.device/0")) {
    return unsupported("computes in the memory of its device; colibri_gpu_check asks it there");
  }
  std::string failures;
  int64_t compared = 0;
  for (const auto& report :
       conformance::check_kernels(*table, *checked.host(), conformance::Extent::kFull)) {
    compared += report.compared;
    for (const std::string& failure : report.failures) failures += "\n    " + failure;
  }
  if (!failures.empty()) return internal_error("differs from the reference:" + failures);
  return compared > 0 ? Status() : internal_error("computes no operator at all");
}

const char* outcome_name(CheckResult::Outcome outcome) {
  switch (outcome) {
    case CheckResult::Outcome::kPassed:
      return "passed";
    case CheckResult::Outcome::kFailed:
      return "FAILED";
    case CheckResult::Outcome::kSkipped:
      return "skipped";
  }
  return "";
}

Status check(const Options& options, Invocation& invocation) {
  std::error_code error;
  const std::string file = std::filesystem::canonical(options.file, error);
  if (error) return not_found(options.file + ": " + error.message());
  COLIBRI_ASSIGN(const machine::Profile profile, machine::Profile::detect());
  const std::vector<CheckResult> results =
      plugin::check_plugin(file, profile, {{"numerics", check_numerics}});
  Json json = Json::array();
  std::string text;
  for (const CheckResult& result : results) {
    const std::string outcome = outcome_name(result.outcome);
    if (result.outcome == CheckResult::Outcome::kFailed) invocation.exit_code = kFailed;
    json.push_back({{"group", result.group}, {"outcome", outcome}, {"text", result.text}});
    text += outcome + std::string(9 - outcome.size(), ' ') + result.group +
            (result.text.empty() ? "" : ": " + result.text) + "\n";
  }
  return print(options.json ? json.dump(2) + "\n" : text);
}

void add(CLI::App& parent, Invocation& invocation, const char* name, const char* doc,
         bool takes_file, Status (*run)(const Options&, Invocation&)) {
  auto options = std::make_shared<Options>();
  CLI::App* command = parent.add_subcommand(name, doc);
  if (takes_file) {
    command->add_option("FILE", options->file, "The plugin, a .so file")->required();
  } else {
    command->add_option("PIPELINE", options->pipeline,
                        "Search and judge as this pipeline does; else as the defaults do");
  }
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, run, &invocation] {
    if (Status status = run(*options, invocation); !status.ok()) invocation.fail(status, kRefused);
  });
}

}  // namespace

void add_plugins_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("plugins", "Show plugins, and check them");
  command->require_subcommand(1);
  add(*command, invocation, "list", "List all plugins, whether each is usable here, and why not",
      /*takes_file=*/false, [](const Options& options, Invocation&) { return list(options); });
  add(*command, invocation, "inspect", "Show a plugin's manifest without loading it",
      /*takes_file=*/true, [](const Options& options, Invocation&) { return inspect(options); });
  add(*command, invocation, "check", "Load a plugin and check that it keeps the plugin contract",
      /*takes_file=*/true, check);
}

}  // namespace colibri::cli
