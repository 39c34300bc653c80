// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/pipeline.h"

#include <algorithm>
#include <utility>

#include "runtime/config/overlay.h"
#include "runtime/config/pipeline_schema.h"

namespace colibri::config {
namespace {

Value scalar(std::string text, const Position& position) {
  Value value;
  value.kind = Value::Kind::kScalar;
  value.text = std::move(text);
  value.quoted = true;
  value.position = position;
  return value;
}

// What a pipeline of nothing but a model looks like.
Value document_for(const std::filesystem::path& model) {
  const Position none = position_of_name(kDefault);
  const auto map = [&](std::initializer_list<std::pair<std::string, Value>> entries) {
    Value result;
    result.kind = Value::Kind::kMap;
    result.position = none;
    for (const auto& [key, value] : entries) {
      result.children.push_back(value);
      result.children.back().key = key;
      result.children.back().key_position = none;
    }
    return result;
  };
  return map({{"apiVersion", scalar("colibri/v1", none)},
              {"kind", scalar("Pipeline", none)},
              {"model", map({{"path", scalar(model.string(), position_of_name("argument"))}})}});
}

Result<Pipeline> finish(std::optional<Value> document, std::span<const Override> overrides,
                        Problems& problems, std::vector<Problem>* list) {
  Pipeline pipeline;
  if (document) {
    for (const Override& change : overrides) {
      apply_override(kPipelineTable, change, *document, problems);
    }
    pipeline.effective = complete(kPipelineTable, std::move(*document), "", problems);
    std::erase_if(pipeline.effective.children,
                  [](const Value& child) { return child.key == "extends"; });
    read(kPipelineTable, pipeline.effective, "", &pipeline, problems);
  }
  if (list != nullptr) *list = problems.list();
  if (!problems.empty()) return problems.status();
  return pipeline;
}

}  // namespace

std::string Pipeline::place(std::string_view key) const {
  const Value* value = effective.at(key);
  for (std::string_view parent = key; value == nullptr;) {
    const size_t dot = parent.rfind('.');
    parent = dot == parent.npos ? std::string_view() : parent.substr(0, dot);
    value = effective.at(parent);
  }
  const std::string where = value->position.text();
  return where == kDefault ? std::string(key) + " (default)" : where + ": " + std::string(key);
}

Result<Override> parse_override(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    return invalid_argument(quote(text) + " is no override; write key.path=value");
  }
  return Override{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<Pipeline> load_pipeline(const std::filesystem::path& file,
                               std::span<const Override> overrides,
                               std::vector<Problem>* problems) {
  Problems found;
  std::optional<Value> document = load_extended(kPipelineTable, file.string(), found);
  return finish(std::move(document), overrides, found, problems);
}

Result<Pipeline> default_pipeline(const std::filesystem::path& model,
                                  std::span<const Override> overrides,
                                  std::vector<Problem>* problems) {
  Problems found;
  return finish(document_for(model), overrides, found, problems);
}

Result<Pipeline> open_pipeline(const std::filesystem::path& path,
                               std::span<const Override> overrides,
                               std::vector<Problem>* problems) {
  const bool document = path.extension() == ".yaml" || path.extension() == ".yml";
  return document ? load_pipeline(path, overrides, problems)
                  : default_pipeline(path, overrides, problems);
}

}  // namespace colibri::config
