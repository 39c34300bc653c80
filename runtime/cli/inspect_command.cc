// SPDX-License-Identifier: Apache-2.0
// colibri inspect: what a model is, and what keeps it from being run.
#include "runtime/cli/inspect_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"
#include "runtime/cli/model_report.h"

namespace colibri::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::string pipeline;
  bool json = false;
};

const char* rope_style(const model::ModelSpec& spec) {
  return spec.rope.style == COLIBRI_ROPE_HALF ? "half" : "interleaved";
}

Json windows(const model::ModelSpec& spec) {
  Json all = Json::array();
  for (const model::LayerSpec& layer : spec.layers) {
    all.push_back(layer.window == 0 ? Json() : Json(layer.window));
  }
  return all;
}

Json hyperparameters(const model::ModelSpec& spec) {
  return {
      {"layers", spec.layers.size()},
      {"hidden", spec.hidden},
      {"vocabulary", spec.vocabulary},
      {"max_tokens", spec.max_tokens},
      {"heads", spec.heads},
      {"kv_heads", spec.kv_heads},
      {"head_dim", spec.head_dim},
      {"value_dim", spec.value_dim},
      {"latent", spec.latent},
      {"q_latent", spec.q_latent},
      {"experts", spec.experts},
      {"top_k", spec.top_k},
      {"expert_inner", spec.expert_inner},
      {"eps", spec.eps},
      {"embedding_scale", spec.embedding_scale},
      {"attention_scale", spec.attention_scale},
      {"windows", windows(spec)},
      {"rope", {{"style", rope_style(spec)}, {"dims", spec.rope.dims}, {"theta", spec.rope.theta}}},
      {"renormalize", spec.router.renormalize},
      {"tied", spec.tied},
      {"bos", spec.bos < 0 ? Json() : Json(spec.bos)},
      {"eos", spec.eos}};
}

Json memory_json(const MemoryNeeds& needs) {
  Json budgets = Json::array();
  for (const MemoryNeed& need : needs.budgets) {
    budgets.push_back({{"experts", need.experts}, {"bytes", need.bytes}});
  }
  return {{"context", needs.context}, {"experts", needs.experts}, {"budgets", budgets}};
}

Json document(const ModelReport& report) {
  Json tensors = Json::array();
  for (const TensorGroup& group : report.tensors) {
    tensors.push_back({{"name", group.name},
                       {"role", group.role.empty() ? Json() : Json(group.role)},
                       {"codec", group.codec},
                       {"shape", group.shape},
                       {"count", group.count},
                       {"elements", group.elements},
                       {"bytes", group.bytes}});
  }
  Json json = {
      {"path", report.source->files().path()},
      {"format", report.format},
      {"vocabulary", report.source->vocabulary()},
      {"tokenizer", report.tokenizer.empty() ? Json()
                                             : Json{{"plugin", report.tokenizer},
                                                    {"vocabulary", report.tokenizer_vocabulary}}},
      {"chat_template", report.chat_template.empty() ? Json() : Json(report.chat_template)},
      {"chat_templates", report.templates}};
  if (report.spec) {
    json["architecture"] = report.spec->architecture;
    json["hyperparameters"] = hyperparameters(*report.spec);
    json["parameters"] = report.spec->parameters();
    json["active_parameters"] = report.spec->active_parameters();
  }
  if (report.memory) json["memory"] = memory_json(*report.memory);
  json["tensors"] = std::move(tensors);
  json["unknown_keys"] = report.unknown_keys;
  json["problems"] = report.problems;
  return json;
}

// One line of two columns.
std::string line(const char* name, const std::string& value) {
  char head[32];
  std::snprintf(head, sizeof(head), "%-14s ", name);
  return head + value + "\n";
}

std::string window_text(const model::ModelSpec& spec) {
  std::vector<int64_t> windows;
  for (const model::LayerSpec& layer : spec.layers) {
    if (std::find(windows.begin(), windows.end(), layer.window) == windows.end()) {
      windows.push_back(layer.window);
    }
  }
  std::string text;
  for (const int64_t window : windows) {
    text += (text.empty() ? "sees " : " or ") +
            (window == 0 ? "all keys" : "the last " + std::to_string(window) + " keys");
  }
  return text + (windows.size() > 1 ? ", by layer" : "");
}

std::string attention_text(const model::ModelSpec& spec) {
  const auto n = [](auto number) { return std::to_string(number); };
  const std::string heads = n(spec.heads) + " heads of width " + n(spec.head_dim) + ", ";
  if (spec.attention == model::AttentionKind::kMla) {
    return heads + "a latent of " + n(spec.latent) + " for keys and values, " + window_text(spec);
  }
  return heads + n(spec.kv_heads) + " key-value heads, " + window_text(spec);
}

std::string expert_text(const model::ModelSpec& spec) {
  const auto n = [](auto number) { return std::to_string(number); };
  if (spec.experts == 0) return "none";
  const auto routed = std::count_if(spec.layers.begin(), spec.layers.end(),
                                    [](const model::LayerSpec& layer) { return layer.routed(); });
  const bool shared = std::any_of(
      spec.layers.begin(), spec.layers.end(),
      [](const model::LayerSpec& layer) { return static_cast<bool>(layer.shared.gate); });
  return n(spec.experts) + " of inner width " + n(spec.expert_inner) + ", top " + n(spec.top_k) +
         (shared ? " and a shared one" : "") + ", in " + n(routed) + " of " +
         n(spec.layers.size()) + " layers";
}

std::string spec_text(const model::ModelSpec& spec) {
  const auto n = [](auto number) { return std::to_string(number); };
  char rope[96];
  std::snprintf(rope, sizeof(rope), "%s over %lld elements, theta %g; eps %g", rope_style(spec),
                static_cast<long long>(spec.rope.dims), spec.rope.theta,
                static_cast<double>(spec.eps));
  std::string eos;
  for (const int32_t id : spec.eos) eos += (eos.empty() ? "" : ", ") + n(id);
  return line("architecture", spec.architecture) +
         line("parameters",
              n(spec.parameters()) + ", of which a token uses " + n(spec.active_parameters())) +
         line("layers", n(spec.layers.size()) + " of width " + n(spec.hidden)) +
         line("vocabulary", n(spec.vocabulary) + (spec.tied ? ", the head is the embedding" : "")) +
         line("max tokens", n(spec.max_tokens)) + line("attention", attention_text(spec)) +
         line("experts", expert_text(spec)) + line("rope", rope) +
         line("bos", spec.bos < 0 ? "none" : n(spec.bos)) + line("eos", eos.empty() ? "none" : eos);
}

std::string codec_text(const ModelReport& report) {
  std::vector<std::pair<std::string, uint64_t>> codecs;
  for (const TensorGroup& group : report.tensors) {
    const auto found = std::find_if(codecs.begin(), codecs.end(),
                                    [&](const auto& codec) { return codec.first == group.codec; });
    if (found == codecs.end()) {
      codecs.emplace_back(group.codec, group.bytes);
    } else {
      found->second += group.bytes;
    }
  }
  std::string text;
  for (const auto& [name, bytes] : codecs) {
    text += (text.empty() ? "" : ", ") + name + " " + human_bytes(bytes);
  }
  return text;
}

std::string memory_text(const MemoryNeeds& needs) {
  const std::string context = " and " + std::to_string(needs.context) + " tokens of context";
  if (needs.experts == 0) {
    return line("memory", human_bytes(needs.budgets.back().bytes) + " with" + context.substr(4));
  }
  std::string text;
  for (const MemoryNeed& need : needs.budgets) {
    const bool all = need.experts == needs.experts;
    text += line(text.empty() ? "memory" : "",
                 human_bytes(need.bytes) + " with " + (all ? "all " : "") +
                     std::to_string(need.experts) +
                     (all ? "" : " of " + std::to_string(needs.experts)) + " experts" + context);
  }
  return text;
}

std::string template_text(const ModelReport& report) {
  std::string names;
  for (const std::string& name : report.templates) names += (names.empty() ? ": " : ", ") + name;
  return report.chat_template + (report.templates.size() > 1 ? names : "");
}

std::string text(const ModelReport& report) {
  std::string out =
      line("model", report.source->files().path()) +
      line("format", report.format + ", names as in " + std::string(report.source->vocabulary()));
  if (report.spec) out += spec_text(*report.spec);
  out += line("tokenizer", report.tokenizer.empty()
                               ? "none"
                               : report.tokenizer + ", " +
                                     std::to_string(report.tokenizer_vocabulary) + " tokens");
  if (!report.chat_template.empty()) out += line("template", template_text(report));
  uint64_t bytes = 0;
  for (const TensorGroup& group : report.tensors) bytes += group.bytes;
  if (report.memory) out += memory_text(*report.memory);
  out += line("codecs", codec_text(report));
  out +=
      line("tensors", std::to_string(report.source->tensors().size()) + ", " + human_bytes(bytes));
  for (const TensorGroup& group : report.tensors) {
    out += "  " + utf8::printable(group.name) +
           (group.role.empty()        ? ""
            : group.role == "ignored" ? " ignored"
                                      : " = " + group.role) +
           "\n      " + std::to_string(group.count) + " x " + group.codec + " " +
           Json(group.shape).dump() + ", " + human_bytes(group.bytes) + "\n";
  }
  if (!report.unknown_keys.empty()) {
    out += "metadata that nothing here reads\n";
    for (const std::string_view key : report.unknown_keys)
      out += "  " + utf8::printable(key) + "\n";
  }
  if (!report.problems.empty()) {
    out += "it cannot be run\n";
    for (const std::string& problem : report.problems) out += "  " + problem + "\n";
  }
  return out;
}

Status inspect(const InspectOptions& options) {
  COLIBRI_ASSIGN(config::Pipeline pipeline, config::open_pipeline(options.pipeline));
  COLIBRI_ASSIGN(const ModelReport report, report_model(std::move(pipeline)));
  return print(options.json
                   ? document(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                   : text(report));
}

}  // namespace

void add_inspect_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a model is and what it lacks");
  command
      ->add_option("MODEL", options->pipeline,
                   "A model folder or file, or a pipeline (.yaml) for its model")
      ->required();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &invocation] {
    if (Status status = inspect(*options); !status.ok()) invocation.fail(status, kRefused);
  });
}

}  // namespace colibri::cli
