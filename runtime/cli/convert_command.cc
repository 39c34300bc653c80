// SPDX-License-Identifier: Apache-2.0
// colibri convert: a model as a .colibri file, which every machine reads as it is.
#include "runtime/cli/convert_command.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/progress_line.h"
#include "runtime/config/pipeline.h"
#include "runtime/convert/convert.h"
#include "runtime/engine/plan.h"

namespace colibri::cli {
namespace {

constexpr const char* kGroups[] = {"experts", "attention", "router", "embedding", "head"};

struct ConvertOptions {
  std::string model, output;
  std::string codecs[std::size(kGroups)];  // of each group; empty = as it is stored
};

Status convert(const ConvertOptions& options) {
  std::vector<config::Override> overrides;
  for (size_t i = 0; i < std::size(kGroups); ++i) {
    if (options.codecs[i].empty()) continue;
    overrides.push_back({std::string("model.quantize.") + kGroups[i], options.codecs[i],
                         std::string("--") + kGroups[i]});
  }
  COLIBRI_ASSIGN(config::Pipeline pipeline, config::default_pipeline(options.model, overrides));
  COLIBRI_ASSIGN(const auto plan, engine::Plan::make(std::move(pipeline)));
  ProgressLine line;
  return convert::convert(*plan, options.output,
                          [&](uint64_t done, uint64_t all) { line.show(done, all); });
}

}  // namespace

void add_convert_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand(
      "convert", "Write a model as a .colibri file: packed, checked, ready to be streamed");
  command->add_option("MODEL", options->model, "A model folder or file")->required();
  command->add_option("-o,--output", options->output, "The .colibri file to write")->required();
  for (size_t i = 0; i < std::size(kGroups); ++i) {
    command
        ->add_option(std::string("--") + kGroups[i], options->codecs[i],
                     std::string("Codec of ") + kGroups[i] + ": model.quantize." + kGroups[i])
        ->type_name("CODEC");
  }
  command->callback([options, &invocation] {
    if (Status status = convert(*options); !status.ok()) invocation.fail(status, kFailed);
  });
}

}  // namespace colibri::cli
