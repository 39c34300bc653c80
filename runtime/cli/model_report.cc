// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/model_report.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/chat/chat_template.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/tokenizer.h"
#include "runtime/machine/profile.h"
#include "runtime/model/bind.h"
#include "runtime/model/choose_format.h"
#include "runtime/model/codecs.h"
#include "runtime/model/unknown_keys.h"

namespace colibri::cli {
namespace {

using Roles = std::unordered_map<const model::TensorEntry*, std::string>;

Roles roles_of(const model::ModelSpec& spec) {
  Roles roles;
  const auto add_to = [&](const model::TensorEntry* tensor, const std::string& name) {
    std::string& role = roles[tensor];
    // A tensor of many experts has the role many times.
    if (role == name || role.ends_with(" and " + name)) return;
    role += (role.empty() ? "" : " and ") + name;
  };
  const auto add = [&](const model::Weight& weight) {
    const std::string name = model::role_name(weight.role);
    if (weight) add_to(weight.tensor, name);
    if (weight.scales != nullptr) add_to(weight.scales, "scales of " + name);
  };
  add(spec.embedding);
  add(spec.head);
  add(spec.final_norm);
  for (const model::LayerSpec& layer : spec.layers) {
    for (const model::Weight* weight : layer.weights()) add(*weight);
    for (const model::FfnSpec& expert : layer.experts) {
      for (const model::Weight* weight : expert.weights()) add(*weight);
    }
  }
  return roles;
}

// The name with a star for every number between dots.
std::string pattern_of(std::string_view name) {
  std::string pattern;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    pattern += (begin > 0 ? "." : "") + (number ? "*" : std::string(part));
    begin = end + 1;
  }
  return pattern;
}

// unbound: the role of tensors that are not in `roles`.
std::vector<TensorGroup> groups_of(const model::ModelSource& source, const Roles& roles,
                                   const std::string& unbound) {
  std::vector<TensorGroup> groups;
  std::unordered_map<std::string, size_t> index;
  for (const model::TensorEntry& tensor : source.tensors()) {
    const auto role = roles.find(&tensor);
    TensorGroup group = {.name = pattern_of(tensor.name),
                         .role = role == roles.end() ? unbound : role->second,
                         .codec = model::codec_name(tensor.codec),
                         .shape = {tensor.shape.begin(), tensor.shape.begin() + tensor.rank}};
    const std::string key =
        group.name + "\n" + group.role + "\n" + group.codec + model::shape_text(tensor);
    const auto [found, is_new] = index.emplace(key, groups.size());
    if (is_new) groups.push_back(std::move(group));
    TensorGroup& sum = groups[found->second];
    ++sum.count;
    sum.elements += tensor.elements();
    sum.bytes += tensor.bytes;
  }
  return groups;
}

// The lines of a failure.
void add_problems(const Status& status, std::vector<std::string>* problems) {
  std::string_view text = status.text();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    problems->emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Status bind(const config::Pipeline& pipeline, ModelReport* report) {
  const std::string& wanted = pipeline.model.architecture;
  COLIBRI_ASSIGN(report->architectures, model::known_architectures(wanted));
  COLIBRI_ASSIGN(const config::Architecture* architecture,
                 model::match(*report->source, report->architectures, wanted));
  report->unknown_keys = model::unknown_keys(*report->source, *architecture);
  COLIBRI_ASSIGN(report->spec, model::bind(*report->source, *architecture));
  return {};
}

void describe_tokenizer(const config::Pipeline& pipeline, const engine::Tokenizer* tokenizer,
                        ModelReport* report) {
  if (tokenizer == nullptr) return;
  report->tokenizer = tokenizer->plugin_id();
  report->tokenizer_vocabulary = tokenizer->vocabulary();
  // A model without one runs, so that it is no problem of the model.
  const auto found = chat::ChatTemplate::open(pipeline, *report->source, *tokenizer);
  const bool none = found.status().code() == COLIBRI_UNSUPPORTED;
  report->chat_template = found.ok() ? found->origin() : none ? "none" : found.status().text();
  if (found.ok()) report->templates = found->names();
}

Status read_tokenizer(const config::Pipeline& pipeline, ModelReport* report) {
  COLIBRI_ASSIGN(const auto tokenizer,
                 engine::Tokenizer::open(*report->registry, pipeline.tokenizer, *report->source));
  describe_tokenizer(pipeline, tokenizer.get(), report);
  return {};
}

MemoryNeeds memory_needs(const engine::Plan& plan) {
  const engine::MemoryPlan& memory = plan.memory;
  MemoryNeeds needs = {.context = plan.max_tokens, .experts = memory.all_slots(), .budgets = {}};
  const uint64_t all = needs.experts;
  const uint64_t floor = std::min<uint64_t>(2, all);
  for (const uint64_t experts : {floor, all / 4, all / 2, all * 3 / 4, all}) {
    if (!needs.budgets.empty() && experts <= needs.budgets.back().experts) continue;
    needs.budgets.push_back(
        {experts, memory.besides_experts() + std::max(experts, floor) * memory.slot});
  }
  return needs;
}

// Of a model that can be run, everything is in its plan.
ModelReport report_plan(const config::Pipeline& pipeline, std::unique_ptr<engine::Plan> plan) {
  ModelReport report;
  report.memory = memory_needs(*plan);
  report.unknown_keys = model::unknown_keys(
      *plan->source,
      **model::match(*plan->source, plan->architectures, pipeline.model.architecture));
  report.format = plan->format_plugin;
  report.registry = std::move(plan->registry);
  report.source = std::move(plan->source);
  report.architectures = std::move(plan->architectures);
  report.spec = std::move(plan->spec);
  describe_tokenizer(pipeline, plan->tokenizer.get(), &report);
  return report;
}

// Of another one, as much as can be found out, step by step.
Result<ModelReport> report_problems(const config::Pipeline& pipeline, const Status& failure) {
  ModelReport report;
  COLIBRI_ASSIGN(const machine::Profile profile, machine::Profile::detect());
  COLIBRI_ASSIGN(report.registry,
                 plugin::Registry::create(plugin::Request::from(pipeline), profile));
  COLIBRI_ASSIGN(std::unique_ptr<model::ModelFiles> files,
                 model::ModelFiles::open(pipeline.model.path.string()));
  COLIBRI_ASSIGN(const auto format,
                 model::choose_format(*report.registry, pipeline.model.format, *files));
  report.format = format->id();
  COLIBRI_ASSIGN(report.source, model::ModelSource::open(
                                    std::move(files),
                                    format->interface<colibri_format_1>(model::kFormatInterface)));
  add_problems(bind(pipeline, &report), &report.problems);
  add_problems(read_tokenizer(pipeline, &report), &report.problems);
  if (report.problems.empty()) add_problems(failure, &report.problems);
  return report;
}

}  // namespace

Result<ModelReport> report_model(config::Pipeline pipeline) {
  pipeline.experts.budget = {};  // the needs at every budget are told
  auto plan = engine::Plan::make(pipeline);
  COLIBRI_ASSIGN(ModelReport report, plan.ok() ? report_plan(pipeline, std::move(*plan))
                                               : report_problems(pipeline, plan.status()));
  // What a bound architecture has no role for, it ignores by name.
  report.tensors = report.spec ? groups_of(*report.source, roles_of(*report.spec), "ignored")
                               : groups_of(*report.source, Roles(), "");
  return report;
}

}  // namespace colibri::cli
