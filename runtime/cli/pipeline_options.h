// SPDX-License-Identifier: Apache-2.0
// The options by which run, plan and tokenize are told what to run: a pipeline or a model, and
// changes to it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"

namespace colibri::cli {

struct PipelineOptions {
  std::string pipeline;  // positional: a YAML file, a model folder or a model file
  std::string model;     // -m
  std::optional<uint64_t> max_tokens, context, threads, seed;  // -n, -c, -t, --seed
  std::vector<config::Override> more;                          // what the command itself needs
  std::vector<std::string> set;                                // --set key=value

  void add_to(CLI::App& command);           // PIPELINE, -m, --set
  void add_settings_to(CLI::App& command);  // -n, -c, -t, --seed
  // The pipeline with all changes applied, in the order above; --set comes last and wins.
  Result<config::Pipeline> open() const;
};

}  // namespace colibri::cli
