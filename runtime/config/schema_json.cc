// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "runtime/config/schema_text.h"

namespace colibri::config {
namespace {

using Json = nlohmann::ordered_json;

Json object_json(const Table& table, bool composed);

Json to_json(const Value& value) {
  if (value.is_list() || value.is_map()) {
    Json json = value.is_list() ? Json::array() : Json::object();
    for (const Value& child : value.children) {
      if (value.is_list()) {
        json.push_back(to_json(child));
      } else {
        json[child.key] = to_json(child);
      }
    }
    return json;
  }
  if (value.is_null()) return nullptr;
  if (const auto boolean = to_boolean(value)) return *boolean;
  if (const auto integer = to_integer(value)) return *integer;
  if (const auto number = to_number(value)) return *number;
  return value.text;
}

// Wherever a composed document has a scalar, a reference to the environment may stand.
Json or_environment(Json json) {
  return {{"anyOf", Json::array({std::move(json), {{"$ref", "#/definitions/environment"}}})}};
}

Json value_json(const Field& field, bool composed) {
  if (field.table != nullptr && field.list) {
    return {{"type", "array"}, {"items", object_json(*field.table, composed)}};
  }
  if (field.table != nullptr && !field.choices.empty()) {
    return {{"anyOf", Json::array({field.type->json(field), object_json(*field.table, composed)})}};
  }
  if (field.table != nullptr) return object_json(*field.table, composed);
  Json json = field.type->json(field);
  const Json type = json.contains("type") ? json["type"] : Json();
  const bool container = type == "array" || type == "object";
  return composed && !container && !field.type->verbatim ? or_environment(std::move(json)) : json;
}

Json object_json(const Table& table, bool composed) {
  Json properties = Json::object(), required = Json::array();
  for (const Field& field : table.fields) {
    const bool constant = field.choices.size() == 1 && field.member == nullptr;
    Json json = {{"description", field.doc}};
    json.update(constant ? field.type->json(field) : value_json(field, composed));
    if (!field.required()) {
      Problems none;
      json["default"] = to_json(parse_yaml(field.fallback, "default", none).value_or(Value()));
    }
    properties[std::string(field.name)] = std::move(json);
    // A document that extends others may leave to them all but what it is.
    if (field.required() && (constant || !composed)) required.push_back(field.name);
  }
  Json json = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) json["required"] = std::move(required);
  json["additionalProperties"] = false;
  return json;
}

Json definitions(bool composed) {
  if (composed) {
    return {{"environment",
             {{"description", "${env:NAME} or ${env:NAME:-default}"},
              {"type", "string"},
              {"pattern", R"(\$\{env:[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\})"}}}};
  }
  const Json self = {{"$ref", "#/definitions/expression"}};
  const auto operation = [&](const char* name, Json operands) -> Json {
    return {{"type", "object"},
            {"properties", {{name, std::move(operands)}}},
            {"required", Json::array({name})},
            {"additionalProperties", false}};
  };
  const Json reference = {{"type", "string"}, {"pattern", R"(^\$[A-Za-z0-9_.-]+$)"}};
  const Json two = {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", self}};
  const Json cases = {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", self}};
  Json forms =
      Json::array({{{"type", {"number", "boolean", "null", "string", "array"}}},
                   operation("first", {{"type", "array"}, {"minItems", 1}, {"items", self}}),
                   operation("count", reference),
                   operation("given", reference),
                   operation("tensor", {{"type", "string"}, {"minLength", 1}}),
                   operation("map", {{"type", "array"},
                                     {"minItems", 2},
                                     {"maxItems", 2},
                                     {"items", Json::array({self, cases})}})});
  for (const char* name : {"add", "sub", "mul", "div"}) forms.push_back(operation(name, two));
  return {{"expression",
           {{"description", "A literal, $name, or an operation: see docs/architectures.md"},
            {"anyOf", forms}}}};
}

}  // namespace

std::string json_schema(const Table& table) {
  Json json = {{"$schema", "http://json-schema.org/draft-07/schema#"},
               {"title", "Colibri " + std::string(table.name)}};
  json.update(object_json(table, table.composed()));
  json["definitions"] = definitions(table.composed());
  return json.dump(2) + "\n";
}

}  // namespace colibri::config
