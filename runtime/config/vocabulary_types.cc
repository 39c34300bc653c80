// SPDX-License-Identifier: Apache-2.0
// The keys of an architecture document that are given by vocabulary: match, require, dims, tensors.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/config/architecture_schema.h"
#include "runtime/config/architecture_types.h"

namespace colibri::config {
namespace {

using Json = nlohmann::ordered_json;

// ---- parts of vocabularies ----

// The entries of a map that is expected here; none and a problem if it is something else.
std::span<const Value> entries(const Value& value, const std::string& key, Problems& problems) {
  if (value.is_map()) return value.children;
  problems.add(value.position, key, "expected a map, found " + describe(value));
  return {};
}

Vocabulary* find_vocabulary(Architecture& architecture, std::string_view name) {
  for (Vocabulary& vocabulary : architecture.vocabularies) {
    if (vocabulary.name == name) return &vocabulary;
  }
  return nullptr;
}

// The vocabulary of an entry of `require`, `dims` or `tensors`; `match` says which there are.
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

// A vocabulary of `match` must have a part in `dims` and `tensors` too.
void check_all_present(const Architecture& architecture, const Value& value, const std::string& key,
                       Problems& problems) {
  for (const Vocabulary& vocabulary : architecture.vocabularies) {
    if (value.is_map() && value.find(vocabulary.name) == nullptr) {
      problems.add(value.position, join(key, vocabulary.name),
                   "is missing; `match` names this vocabulary");
    }
  }
}

// ---- match, require ----

Literal literal_of(const Value& value) {
  if (value.is_null()) return std::monostate();
  if (const auto boolean = to_boolean(value)) return *boolean;
  if (const auto integer = to_integer(value)) return *integer;
  if (const auto number = to_number(value)) return *number;
  return value.text;
}

std::vector<Condition> read_conditions(const Value& value, const std::string& key,
                                       Problems& problems) {
  std::vector<Condition> conditions;
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    if (!entry.is_list() || entry.children.empty()) {
      problems.add(entry.position, path,
                   "expected a list of allowed values, found " +
                       (entry.is_list() ? "an empty one" : describe(entry)));
      continue;
    }
    Condition condition = {entry.key, {}, entry.position};
    for (size_t i = 0; i < entry.children.size(); ++i) {
      const Value& allowed = entry.children[i];
      if (allowed.is_list() || allowed.is_map()) {
        problems.add(allowed.position, join(path, std::to_string(i)),
                     "expected a text, a number, true, false or null, found " + describe(allowed));
      }
      condition.allowed.push_back(literal_of(allowed));
    }
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

std::string conditions_text(const Field&) {
  return "per vocabulary, a map of metadata keys, each with a list of values";
}

Json conditions_json(const Field&) {
  const Json values = {{"type", "array"}, {"minItems", 1}};
  const Json keys = {{"type", "object"}, {"additionalProperties", values}};
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
    } else if (auto expr = parse_expression(field->type, field->nullable, entry, path, problems)) {
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

// ---- tensors ----

using Scope = TensorTemplate::Scope;

std::string_view scope_key(Scope scope) {
  return scope == Scope::kLayer ? "layer" : scope == Scope::kExpert ? "expert" : "";
}

std::string tensors_text(const Field&) {
  return "per vocabulary, a map of the roles below, and `ignore`: a list of globs";
}

std::vector<Name> tensors_names() {
  std::vector<Name> names;
  for (const RoleField& role : kRoleFields) names.push_back({role.key, role.doc});
  return names;
}

Json role_json(const RoleField& role) {
  const Json name = {{"type", "string"}, {"minLength", 1}};
  const Json properties = {{"name", name},
                           {"tied_to", {{"type", "string"}}},
                           {"optional", {{"$ref", "#/definitions/expression"}}}};
  const Json map = {{"type", "object"},
                    {"properties", properties},
                    {"required", Json::array({"name"})},
                    {"additionalProperties", false}};
  return {{"description", role.doc}, {"anyOf", Json::array({name, map})}};
}

Json scope_json(Scope scope) {
  Json properties = Json::object(), required = Json::array();
  for (const RoleField& role : kRoleFields) {
    if (role.scope != scope) continue;
    properties[std::string(role.name)] = role_json(role);
    required.push_back(role.name);
  }
  if (scope == Scope::kModel) {
    for (const Scope inner : {Scope::kLayer, Scope::kExpert}) {
      properties[std::string(scope_key(inner))] = scope_json(inner);
      required.push_back(scope_key(inner));
    }
    properties["ignore"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
  }
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

Json tensors_json(const Field&) {
  return {{"type", "object"}, {"additionalProperties", scope_json(Scope::kModel)}};
}

// A pattern holds exactly the placeholders that its scope calls for.
void check_pattern(Scope scope, const Value& value, const std::string& key, Problems& problems) {
  const std::string_view wanted = scope == Scope::kModel   ? ""
                                  : scope == Scope::kLayer ? "{l}"
                                                           : "{l} and {e}";
  bool layer = false, expert = false, other = false;
  const std::string_view text = value.text;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("{l}")) {
      layer = true;
      at += 2;
    } else if (text.substr(at).starts_with("{e}")) {
      expert = true;
      at += 2;
    } else {
      other = other || text[at] == '{' || text[at] == '}';
    }
  }
  if (other || layer != (scope != Scope::kModel) || expert != (scope == Scope::kExpert)) {
    problems.add(value.position, key,
                 quote(value.text) + " must hold " +
                     (wanted.empty() ? "no { or }" : std::string(wanted) + " and no other { or }"));
  }
}

// "name", or { name, tied_to, optional }.
void read_template(Scope scope, const Value& value, const std::string& key,
                   std::vector<TensorTemplate>& templates, Problems& problems) {
  TensorTemplate result;
  result.scope = scope;
  result.role = value.key;
  result.position = value.position;
  result.key = key;
  result.optional.literal = false;
  const Value* name = &value;
  if (value.is_map()) {
    name = value.find("name");
    for (const Value& entry : value.children) {
      const std::string path = join(key, entry.key);
      if (entry.key == "tied_to" && entry.is_scalar()) {
        result.tied_to = entry.text;
      } else if (entry.key == "optional") {
        auto expr = parse_expression(Type::kBoolean, false, entry, path, problems);
        if (expr) result.optional = std::move(*expr);
      } else if (entry.key == "tied_to") {
        problems.add(entry.position, path, "expected a role, found " + describe(entry));
      } else if (entry.key != "name") {
        problems.add(entry.key_position, path,
                     "unknown key" + suggestion(entry.key, {"name", "tied_to", "optional"}));
      }
    }
  }
  if (name == nullptr) {
    problems.add(value.position, join(key, "name"), "is missing; it is required");
  } else if (!name->is_scalar() || name->text.empty()) {
    problems.add(name->position, key, "expected the name of a tensor, found " + describe(*name));
  } else {
    result.pattern = name->text;
    check_pattern(scope, *name, key, problems);
  }
  templates.push_back(std::move(result));
}

std::vector<std::string> read_globs(const Value& value, const std::string& key,
                                    Problems& problems) {
  std::vector<std::string> globs;
  if (!value.is_list()) {
    problems.add(value.position, key, "expected a list of globs, found " + describe(value));
  }
  for (size_t i = 0; i < value.children.size(); ++i) {
    const Value& glob = value.children[i];
    if (value.is_list() && (!glob.is_scalar() || glob.text.empty())) {
      problems.add(glob.position, join(key, std::to_string(i)),
                   "expected a glob, found " + describe(glob));
    }
    globs.push_back(glob.text);
  }
  return globs;
}

// One scope of a vocabulary's tensors; kModel holds the other two.
void read_scope(Scope scope, const Value& value, const std::string& key, Vocabulary& vocabulary,
                Problems& problems) {
  std::vector<std::string_view> allowed;
  for (const RoleField& role : kRoleFields) {
    if (role.scope == scope) allowed.push_back(role.name);
  }
  const std::vector<std::string_view> roles = allowed;
  if (scope == Scope::kModel) allowed.insert(allowed.end(), {"layer", "expert", "ignore"});
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    if (scope == Scope::kModel && entry.key == "ignore") {
      vocabulary.ignore = read_globs(entry, path, problems);
    } else if (scope == Scope::kModel && entry.key == scope_key(Scope::kLayer)) {
      read_scope(Scope::kLayer, entry, path, vocabulary, problems);
    } else if (scope == Scope::kModel && entry.key == scope_key(Scope::kExpert)) {
      read_scope(Scope::kExpert, entry, path, vocabulary, problems);
    } else if (std::find(roles.begin(), roles.end(), entry.key) != roles.end()) {
      read_template(scope, entry, path, vocabulary.tensors, problems);
    } else {
      problems.add(entry.key_position, path, "unknown key" + suggestion(entry.key, allowed));
    }
  }
  for (const std::string_view name : allowed) {
    if (name != "ignore" && value.is_map() && value.find(name) == nullptr) {
      problems.add(value.position, join(key, name), "is missing; it is required");
    }
  }
}

// A tensor can stand in only for one of the whole model: elsewhere there is one per layer.
void check_ties(const Vocabulary& vocabulary, Problems& problems) {
  for (const TensorTemplate& tensor : vocabulary.tensors) {
    if (tensor.tied_to.empty()) continue;
    std::vector<std::string_view> others;
    for (const TensorTemplate& other : vocabulary.tensors) {
      if (other.scope == tensor.scope && other.role != tensor.role) others.push_back(other.role);
    }
    if (std::find(others.begin(), others.end(), tensor.tied_to) == others.end()) {
      problems.add(tensor.position, join(tensor.key, "tied_to"),
                   "unknown role " + quote(tensor.tied_to) + suggestion(tensor.tied_to, others));
    }
  }
}

void read_tensors(const Field&, const Value& value, const std::string& key, void* member,
                  Problems& problems) {
  auto& architecture = *static_cast<Architecture*>(member);
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    Vocabulary* vocabulary = vocabulary_of(architecture, entry, path, problems);
    if (vocabulary == nullptr) continue;
    read_scope(Scope::kModel, entry, path, *vocabulary, problems);
    check_ties(*vocabulary, problems);
  }
  check_all_present(architecture, value, key, problems);
}

}  // namespace

constexpr FieldType kMatchType = {conditions_text, conditions_json, read_match};
constexpr FieldType kRequireType = {conditions_text, conditions_json, read_require};
constexpr FieldType kDimsType = {dims_text, dims_json, read_dims, nullptr, false, dims_names};
constexpr FieldType kTensorsType = {tensors_text, tensors_json, read_tensors,
                                    nullptr,      false,        tensors_names};

}  // namespace colibri::config
