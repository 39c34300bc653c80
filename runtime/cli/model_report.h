// SPDX-License-Identifier: Apache-2.0
// What `colibri inspect` finds out about a model, also about one that cannot be run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/architecture.h"
#include "runtime/config/pipeline.h"
#include "runtime/model/source.h"
#include "runtime/model/spec.h"
#include "runtime/plugin/registry.h"

namespace colibri::cli {

// Tensors that differ only in the numbers of their names.
struct TensorGroup {
  std::string name;  // "model.layers.*.self_attn.q_proj.weight"
  std::string role;  // "q"; "ignored"; empty if it is not known
  std::string codec;
  std::vector<int64_t> shape;
  int64_t count = 0;
  int64_t elements = 0;  // of all of them
  uint64_t bytes = 0;
};

// Bytes that a run takes, with as many tokens of context as the pipeline asks for, and how many
// experts of all layers are in memory then.
struct MemoryNeed {
  uint64_t experts = 0;
  uint64_t bytes = 0;
};
struct MemoryNeeds {
  int64_t context = 0;              // tokens
  uint64_t experts = 0;             // of all layers; 0 = the model has none
  std::vector<MemoryNeed> budgets;  // from the least to all experts
};

struct ModelReport {
  std::unique_ptr<plugin::Registry> registry;  // keeps the format plugin open
  std::string format;                          // id of its plugin
  std::unique_ptr<model::ModelSource> source;
  std::vector<TensorGroup> tensors;  // in the order of the format

  std::vector<config::Architecture> architectures;  // of these, the spec's is
  std::optional<model::ModelSpec> spec;             // nullopt: it cannot be run, see problems
  std::vector<std::string_view> unknown_keys;
  std::optional<MemoryNeeds> memory;  // nullopt: it cannot be run

  std::string tokenizer;               // id of its plugin; empty = none, or see problems
  uint32_t tokenizer_vocabulary = 0;   // tokens
  std::string chat_template;           // where it comes from, "none", or why it is of no use
  std::vector<std::string> templates;  // names of the chat templates
  std::vector<std::string> problems;   // why the model cannot be run as it is
};

// Fails if the model cannot be opened; what is wrong beyond that becomes problems.
Result<ModelReport> report_model(config::Pipeline pipeline);

}  // namespace colibri::cli
