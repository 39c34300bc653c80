// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/pipeline_options.h"

#include <filesystem>
#include <utility>

namespace colibri::cli {

void PipelineOptions::add_to(CLI::App& command) {
  command.add_option("PIPELINE", pipeline,
                     "A pipeline (.yaml), or a model folder or file to run with all settings at "
                     "their defaults");
  command.add_option("-m,--model", model, "Model folder or file; overrides model.path");
  command
      .add_option("--set", set, "Override any key of the pipeline, e.g. --set experts.budget=40%")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

void PipelineOptions::add_settings_to(CLI::App& command) {
  command.add_option("-n,--max-tokens", max_tokens, "Tokens to generate: generate.max_tokens");
  command.add_option("-c,--context", context, "Longest sequence: context.max_tokens");
  command.add_option("-t,--threads", threads, "threads.count");
  command.add_option("--seed", seed, "generate.seed");
}

Result<config::Pipeline> PipelineOptions::open() const {
  std::vector<config::Override> overrides;
  const auto number = [&](const char* key, const char* origin,
                          const std::optional<uint64_t>& value) {
    if (value) overrides.push_back({key, std::to_string(*value), origin});
  };
  number("generate.max_tokens", "-n", max_tokens);
  number("context.max_tokens", "-c", context);
  number("threads.count", "-t", threads);
  number("generate.seed", "--seed", seed);
  if (!model.empty() && !pipeline.empty()) {
    overrides.push_back({"model.path", std::filesystem::absolute(model).string(), "-m"});
  }
  overrides.insert(overrides.end(), more.begin(), more.end());
  for (const std::string& text : set) {
    COLIBRI_ASSIGN(config::Override parsed, config::parse_override(text));
    overrides.push_back(std::move(parsed));
  }
  if (!pipeline.empty()) return config::open_pipeline(pipeline, overrides);
  if (!model.empty()) return config::default_pipeline(model, overrides);
  return invalid_argument(
      "nothing to run: give a pipeline (.yaml) or a model folder, e.g. colibri run "
      "configs/pipelines/plc_summary.yaml");
}

}  // namespace colibri::cli
