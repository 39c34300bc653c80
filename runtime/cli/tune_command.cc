// SPDX-License-Identifier: Apache-2.0
// colibri tune: finds the fastest settings on this machine that change no answer, and writes them as
// a pipeline that extends the one that was tuned.
#include "runtime/cli/tune_command.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/bench/tune.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/pipeline_options.h"

namespace colibri::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kFirstLine[] = "# Made by `colibri tune`";
constexpr uint64_t kMostBytes = 1 << 20;
constexpr uint32_t kMostTokens = 1 << 20, kMostRounds = 1000;

struct TuneOptions {
  PipelineOptions pipeline;
  bench::TuneSettings settings;
  std::string output;
};

// A text as YAML reads it back, with nothing replaced.
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '$' ? "$$" : std::string(1, c);
  return nlohmann::json(escaped).dump();
}

fs::path output_of(const TuneOptions& options) {
  if (!options.output.empty()) return options.output;
  const PipelineOptions& from = options.pipeline;
  fs::path name = fs::absolute(from.pipeline.empty() ? from.model : from.pipeline);
  if (!name.has_filename()) name = name.parent_path();
  return name.stem().string() + ".tuned.yaml";
}

// What was there before is overwritten only if it came from here, too.
Status check_output(const fs::path& path) {
  if (!fs::exists(path)) return {};
  const auto text = read_file(path.string(), kMostBytes);
  if (text.ok() && text->starts_with(kFirstLine)) return {};
  return invalid_argument(path.string() +
                          ": is there already and not made by tune; give another name with -o");
}

// The line that says what is tuned, relative to the file it stands in.
std::string base_line(const PipelineOptions& from, const fs::path& output) {
  const auto relative = [&](const std::string& to) {
    const fs::path folder = fs::absolute(output).parent_path();
    return quoted(fs::proximate(fs::absolute(to), folder).string());
  };
  const bool document = from.pipeline.ends_with(".yaml") || from.pipeline.ends_with(".yml");
  std::string line;
  if (document) line = "extends: [" + relative(from.pipeline) + "]\n";
  if (!from.model.empty() || !document) {
    line += "model: { path: " + relative(from.model.empty() ? from.pipeline : from.model) + " }\n";
  }
  return line;
}

std::string text_of(const bench::Decision& decision) {
  std::string text = decision.key + ":";
  for (size_t i = 0; i < decision.alternatives.size(); ++i) {
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), " %.4g ms", 1000 * decision.alternatives[i].seconds);
    text += (i == 0 ? " " : ", ") + decision.alternatives[i].value + seconds;
  }
  return text + "; " + (decision.changed() ? "now " : "stays ") + decision.value();
}

// The settings that changed, as maps in one another.
std::string settings_of(const std::vector<bench::Decision>& decisions) {
  std::map<std::string, std::string> threads, context, operators;
  for (const bench::Decision& decision : decisions) {
    if (!decision.changed()) continue;
    const size_t dot = decision.key.rfind('.');
    const std::string part = decision.key.substr(0, dot);
    auto& to = part == "threads" ? threads : part == "context" ? context : operators;
    to[decision.key.substr(dot + 1)] = decision.value();
  }
  const auto map_text = [](const std::map<std::string, std::string>& map) {
    std::string text;
    for (const auto& [key, value] : map) text += (text.empty() ? " " : ", ") + key + ": " + value;
    return "{" + text + " }\n";
  };
  std::string text;
  if (!threads.empty()) text += "threads: " + map_text(threads);
  if (!context.empty()) text += "context: " + map_text(context);
  if (!operators.empty()) text += "plugins:\n  operators: " + map_text(operators);
  return text;
}

Status tune(const TuneOptions& options, const config::Pipeline& pipeline, const fs::path& output) {
  const Interrupt interrupt;
  std::vector<bench::Decision> decisions;
  Status printed;
  COLIBRI_TRY(bench::tune(pipeline, options.settings, interrupt.flag(),
                          [&](const bench::Decision& decision) {
                            if (printed.ok()) printed = print(text_of(decision) + "\n");
                            if (printed.ok()) printed = flush_output();
                            decisions.push_back(decision);
                          }));
  COLIBRI_TRY(std::move(printed));
  std::string text = std::string(kFirstLine) +
                     " for the machine it ran on: medians of prompts of " +
                     std::to_string(options.settings.prompt_tokens) + " tokens and " +
                     std::to_string(options.settings.generate_tokens) + " tokens behind them.\n";
  for (const bench::Decision& decision : decisions) text += "#   " + text_of(decision) + "\n";
  text += "apiVersion: colibri/v1\nkind: Pipeline\n" + base_line(options.pipeline, output) +
          settings_of(decisions);
  COLIBRI_TRY(write_file(output, text));
  return print("wrote " + output.string() + "\n");
}

void run(const TuneOptions& options, Invocation& invocation) {
  const auto pipeline = options.pipeline.open();
  if (!pipeline.ok()) return invocation.fail(pipeline.status(), kRefused);
  const fs::path output = output_of(options);
  if (Status status = check_output(output); !status.ok()) return invocation.fail(status, kRefused);
  if (Status status = tune(options, *pipeline, output); !status.ok()) {
    invocation.fail(status, kFailed);
  }
}

}  // namespace

void add_tune_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command = app.add_subcommand(
      "tune",
      "Find the fastest plugins, threads and chunk on this machine, and write them as a pipeline; "
      "answers stay the same");
  options->pipeline.add_to(*command);
  const auto number = [&](const char* name, uint32_t& to, uint32_t most, const char* doc) {
    command->add_option(name, to, doc)
        ->check(CLI::Range(1u, most))
        ->type_name("N")
        ->capture_default_str();
  };
  number("-p,--prompt-tokens", options->settings.prompt_tokens, kMostTokens,
         "Length of the prompts, in tokens");
  number("-n,--generate-tokens", options->settings.generate_tokens, kMostTokens,
         "Tokens behind each prompt");
  number("-r,--repeats", options->settings.repeats, kMostRounds,
         "Rounds in which the alternatives take turns");
  command->add_option("-o,--output", options->output,
                      "The file to write; else NAME.tuned.yaml in this folder. What --set says is "
                      "measured with, and not in the file");
  command->callback([options, &invocation] { run(*options, invocation); });
}

}  // namespace colibri::cli
