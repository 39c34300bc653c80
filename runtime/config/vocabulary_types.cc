// SPDX-License-Identifier: Apache-2.0
// The keys of an architecture document that are given by vocabulary: match, require, dims. Tensors:
// tensor_types.cc.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/config/architecture_schema.h"
#include "runtime/config/architecture_types.h"

namespace colibri::config {
namespace {

using Json = nlohmann::ordered_json;

Vocabulary* find_vocabulary(Architecture& architecture, std::string_view name) {
  for (Vocabulary& vocabulary : architecture.vocabularies) {
    if (vocabulary.name == name) return &vocabulary;
  }
  return nullptr;
}

// ---- match, require ----

Literal literal_of(const Value& value) {
  if (value.is_null()) return std::monostate();
  if (const auto boolean = to_boolean(value)) return *boolean;
  if (const auto integer = to_integer(value)) return *integer;
  if (const auto number = to_number(value)) return *number;
  return value.text;
}

// "key: [a, b]" or "key: { not: [a, b] }".
Condition read_condition(const Value& entry, const std::string& key, Problems& problems) {
  Condition condition;
  condition.key = entry.key;
  condition.position = entry.position;
  const bool map = entry.is_map() && entry.children.size() == 1;
  condition.negated = map && entry.children[0].key == "not";
  const Value& values = condition.negated ? entry.children[0] : entry;
  const std::string path = condition.negated ? join(key, "not") : key;
  if (!values.is_list() || values.children.empty()) {
    problems.add(values.position, path,
                 "expected a list of values or { not: [...] }, found " +
                     (values.is_list() ? "an empty list" : describe(values)));
    return condition;
  }
  for (size_t i = 0; i < values.children.size(); ++i) {
    const Value& value = values.children[i];
    if (value.is_list() || value.is_map()) {
      problems.add(value.position, join(path, std::to_string(i)),
                   "expected a text, a number, true, false or null, found " + describe(value));
    }
    condition.values.push_back(literal_of(value));
  }
  return condition;
}

std::vector<Condition> read_conditions(const Value& value, const std::string& key,
                                       Problems& problems) {
  std::vector<Condition> conditions;
  for (const Value& entry : entries(value, key, problems)) {
    conditions.push_back(read_condition(entry, join(key, entry.key), problems));
  }
  return conditions;
}

std::string conditions_text(const Field&) {
  return "per vocabulary, a map of metadata keys, each with a list of values or { not: [...] }";
}

Json conditions_json(const Field&) {
  const Json values = {{"type", "array"}, {"minItems", 1}};
  const Json others = {{"type", "object"},
                       {"properties", {{"not", values}}},
                       {"required", Json::array({"not"})},
                       {"additionalProperties", false}};
  const Json keys = {{"type", "object"},
                     {"additionalProperties", {{"anyOf", Json::array({values, others})}}}};
  return {{"type", "object"}, {"additionalProperties", keys}};
}

void read_match(const Field&, const Value& value, const std::string& key, void* member,
                Problems& problems) {
  auto& architecture = *static_cast<Architecture*>(member);
  for (const Value& entry : entries(value, key, problems)) {
    Vocabulary vocabulary;
    vocabulary.name = entry.key;
    vocabulary.match = read_conditions(entry, join(key, entry.key), problems);
    architecture.vocabularies.push_back(std::move(vocabulary));
  }
  if (value.is_map() && value.children.empty()) {
    problems.add(value.position, key, "names no vocabulary; write hf: { model_type: [...] }");
  }
}

void read_require(const Field&, const Value& value, const std::string& key, void* member,
                  Problems& problems) {
  auto& architecture = *static_cast<Architecture*>(member);
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    Vocabulary* vocabulary = vocabulary_of(architecture, entry, path, problems);
    if (vocabulary != nullptr) vocabulary->require = read_conditions(entry, path, problems);
  }
}

// ---- dims ----

std::string dims_text(const Field&) {
  return "per vocabulary, a map of the names below";
}

std::vector<Name> dims_names() {
  std::vector<Name> names;
  for (const DimensionField& field : kDimensionFields) names.push_back({field.name, field.doc});
  return names;
}

Json dims_json(const Field&) {
  Json names = Json::object(), required = Json::array();
  for (const DimensionField& dimension : kDimensionFields) {
    names[std::string(dimension.name)] = {{"description", dimension.doc},
                                          {"$ref", "#/definitions/expression"}};
    if (dimension.required) required.push_back(dimension.name);
  }
  const Json one = {{"type", "object"},
                    {"properties", names},
                    {"required", required},
                    {"additionalProperties", false}};
  return {{"type", "object"}, {"additionalProperties", one}};
}

std::vector<Dimension> read_dimensions(const Value& value, const std::string& key,
                                       Problems& problems) {
  std::vector<Dimension> dimensions;
  std::vector<std::string_view> names;
  for (const DimensionField& field : kDimensionFields) names.push_back(field.name);
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    const auto field = std::find_if(kDimensionFields.begin(), kDimensionFields.end(),
                                    [&](const DimensionField& f) { return f.name == entry.key; });
    if (field == kDimensionFields.end()) {
      problems.add(entry.key_position, path, "unknown dimension" + suggestion(entry.key, names));
    } else if (auto expr = parse_expression(field->type, field->nullable, entry, path, problems,
                                            field->choices)) {
      dimensions.push_back({entry.key, field->type, field->nullable, std::move(*expr)});
    }
  }
  for (const DimensionField& field : kDimensionFields) {
    if (field.required && value.is_map() && value.find(field.name) == nullptr) {
      problems.add(value.position, join(key, field.name), "is missing; it is required");
    }
  }
  return dimensions;
}

void read_dims(const Field&, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  auto& architecture = *static_cast<Architecture*>(member);
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    Vocabulary* vocabulary = vocabulary_of(architecture, entry, path, problems);
    if (vocabulary != nullptr) vocabulary->dims = read_dimensions(entry, path, problems);
  }
  check_all_present(architecture, value, key, problems);
}

}  // namespace

std::span<const Value> entries(const Value& value, const std::string& key, Problems& problems) {
  if (value.is_map()) return value.children;
  problems.add(value.position, key, "expected a map, found " + describe(value));
  return {};
}

Vocabulary* vocabulary_of(Architecture& architecture, const Value& entry, const std::string& key,
                          Problems& problems) {
  Vocabulary* vocabulary = find_vocabulary(architecture, entry.key);
  if (vocabulary == nullptr && !architecture.vocabularies.empty()) {
    std::vector<std::string_view> names;
    for (const Vocabulary& known : architecture.vocabularies) names.push_back(known.name);
    problems.add(entry.key_position, key,
                 "`match` names no such vocabulary" + suggestion(entry.key, names));
  }
  return vocabulary;
}

void check_all_present(const Architecture& architecture, const Value& value, const std::string& key,
                       Problems& problems) {
  for (const Vocabulary& vocabulary : architecture.vocabularies) {
    if (value.is_map() && value.find(vocabulary.name) == nullptr) {
      problems.add(value.position, join(key, vocabulary.name),
                   "is missing; `match` names this vocabulary");
    }
  }
}

constexpr FieldType kMatchType = {conditions_text, conditions_json, read_match};
constexpr FieldType kRequireType = {conditions_text, conditions_json, read_require};
constexpr FieldType kDimsType = {dims_text, dims_json, read_dims, nullptr, false, dims_names};

}  // namespace colibri::config
