// SPDX-License-Identifier: Apache-2.0
// colibri config: checks, prints and explains documents. Looks at no model, plugin or machine.
#include "runtime/cli/config_command.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/cli/pipeline_options.h"
#include "runtime/config/architecture.h"
#include "runtime/config/architecture_schema.h"
#include "runtime/config/overlay.h"
#include "runtime/config/pipeline_schema.h"
#include "runtime/config/print.h"
#include "runtime/config/schema_text.h"

namespace colibri::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Verdict {
  std::string file;
  std::string kind;
  Status status;
  std::vector<config::Problem> problems;
};

Verdict judge(const std::string& file) {
  Verdict verdict = {file, "Pipeline", {}, {}};
  config::Problems ignored;  // the reading below reports them again
  const auto document = config::read_document(file, config::position_of_name(file), "", ignored);
  const config::Value* kind = document ? document->find("kind") : nullptr;
  if (kind != nullptr && kind->text == "Architecture") {
    verdict.kind = kind->text;
    verdict.status = config::load_architecture(file, &verdict.problems).status();
  } else {
    verdict.status = config::load_pipeline(file, {}, &verdict.problems).status();
  }
  return verdict;
}

Json to_json(const Verdict& verdict) {
  Json problems = Json::array();
  for (const config::Problem& problem : verdict.problems) {
    problems.push_back({{"file", *problem.position.file},
                        {"line", problem.position.line},
                        {"column", problem.position.column},
                        {"key", problem.key},
                        {"text", problem.text}});
  }
  return {{"file", verdict.file}, {"kind", verdict.kind}, {"problems", problems}};
}

Status validate(const std::vector<std::string>& files, bool json, Invocation& invocation) {
  Json all = Json::array();
  for (const std::string& file : files) {
    const Verdict verdict = judge(file);
    if (!verdict.status.ok()) invocation.exit_code = kRefused;
    if (json) {
      all.push_back(to_json(verdict));
    } else if (verdict.status.ok()) {
      COLIBRI_TRY(print(file + ": is a valid " + verdict.kind + "\n"));
    } else {
      // As compilers do it, so that editors find the place.
      std::fprintf(stderr, "%s\n", verdict.status.text().c_str());
    }
  }
  return json ? print(all.dump(2) + "\n") : Status();
}

Status explain(const std::string& key) {
  const Result<std::string> pipeline = config::explain(config::kPipelineTable, key);
  const Result<std::string> architecture = config::explain(config::kArchitectureTable, key);
  if (pipeline.ok()) COLIBRI_TRY(print("Pipeline: " + *pipeline));
  if (architecture.ok()) COLIBRI_TRY(print("Architecture: " + *architecture));
  if (pipeline.ok() || architecture.ok()) return {};
  return invalid_argument(pipeline.status().text() + "\n" + architecture.status().text());
}

Status print_effective(const PipelineOptions& options) {
  COLIBRI_ASSIGN(const config::Pipeline pipeline, options.open());
  return print(config::print_with_origins(pipeline.effective));
}

void fail_if(const Status& status, Invocation& invocation) {
  if (!status.ok()) invocation.fail(status, kRefused);
}

void add_validate(CLI::App& app, Invocation& invocation) {
  struct Options {
    std::vector<std::string> files;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("validate", "Report every problem of pipelines and architectures");
  command->add_option("FILE", options->files, "The documents")->required();
  command->add_flag("--json", options->json, "Print the verdicts as one JSON array");
  command->callback([options, &invocation] {
    fail_if(validate(options->files, options->json, invocation), invocation);
  });
}

void add_print(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PipelineOptions>();
  CLI::App* command = app.add_subcommand(
      "print", "Print every value of a pipeline that is in force, and where it came from");
  options->add_to(*command);
  options->add_settings_to(*command);
  command->callback([options, &invocation] { fail_if(print_effective(*options), invocation); });
}

void add_explain(CLI::App& app, Invocation& invocation) {
  auto key = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("explain", "Say what a key means");
  command->add_option("KEY", *key, "A dotted path, e.g. experts.budget")->required();
  command->callback([key, &invocation] { fail_if(explain(*key), invocation); });
}

void add_schema(CLI::App& app, Invocation& invocation) {
  struct Options {
    std::string kind = "pipeline";
    bool markdown = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of a kind of document");
  command->add_option("KIND", options->kind, "pipeline (default) or architecture")
      ->check(CLI::IsMember({"pipeline", "architecture"}));
  command->add_flag("--markdown", options->markdown, "Print the reference page instead");
  command->callback([options, &invocation] {
    const config::Table& table =
        options->kind == "pipeline" ? config::kPipelineTable : config::kArchitectureTable;
    fail_if(print(options->markdown ? config::reference_page(table) : config::json_schema(table)),
            invocation);
  });
}

}  // namespace

void add_config_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("config", "Check, print and explain pipelines and architectures");
  command->require_subcommand(1);
  add_validate(*command, invocation);
  add_print(*command, invocation);
  add_explain(*command, invocation);
  add_schema(*command, invocation);
}

}  // namespace colibri::cli
