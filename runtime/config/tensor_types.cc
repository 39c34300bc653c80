// SPDX-License-Identifier: Apache-2.0
// `tensors` of an architecture document: what a checkpoint calls the tensor of each role, and how
// it lies there.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/config/architecture_schema.h"
#include "runtime/config/architecture_types.h"

namespace colibri::config {
namespace {

using Json = nlohmann::ordered_json;
using Scope = TensorTemplate::Scope;

constexpr Scope kInnerScopes[] = {Scope::kLayer, Scope::kDense, Scope::kShared, Scope::kExpert};

// ---- what it looks like ----

std::string tensors_text(const Field&) {
  return "per vocabulary, a map of the roles below, and `ignore`: a list of globs";
}

std::vector<Name> tensors_names() {
  // Names outlive the call: the keys are put together once.
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (const RoleField& role : kRoleFields) all.push_back(join(scope_key(role.scope), role.name));
    return all;
  }();
  std::vector<Name> names;
  for (size_t i = 0; i < keys.size(); ++i) names.push_back({keys[i], kRoleFields[i].doc});
  return names;
}

Json object_json(Json properties, Json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json template_json() {
  const Json name = {{"type", "string"}, {"minLength", 1}};
  const Json flag = {{"type", "boolean"}};
  const Json expression = {{"$ref", "#/definitions/expression"}};
  const Json rows = object_json(
      {{"group", expression}, {"from", expression}, {"count", expression}, {"transpose", flag}},
      Json::array({"group"}));
  Json map = object_json({{"name", name},
                          {"blocks", name},
                          {"scales", name},
                          {"when", expression},
                          {"optional", expression},
                          {"tied_to", {{"type", "string"}}},
                          {"slice", {{"const", "{e}"}}},
                          {"transpose", flag},
                          {"rows", rows}},
                         Json());
  map.erase("required");
  map["oneOf"] = Json::array(
      {{{"required", Json::array({"name"})}}, {{"required", Json::array({"blocks", "scales"})}}});
  return {{"anyOf", Json::array({name, map})}};
}

Json scope_json(Scope scope) {
  const Json one = template_json();
  Json properties = Json::object(), required = Json::array();
  for (const RoleField& role : kRoleFields) {
    if (role.scope != scope) continue;
    Json forms = one["anyOf"];
    forms.push_back({{"type", "array"}, {"minItems", 1}, {"items", one}});
    properties[std::string(role.name)] = {{"description", role.doc}, {"anyOf", std::move(forms)}};
    if (role.need == RoleField::Need::kAlways) required.push_back(role.name);
  }
  if (scope == Scope::kModel) {
    for (const Scope inner : kInnerScopes) properties[scope_key(inner)] = scope_json(inner);
    required.push_back(scope_key(Scope::kLayer));
    properties["ignore"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
  }
  return object_json(std::move(properties), std::move(required));
}

Json tensors_json(const Field&) {
  return {{"type", "object"}, {"additionalProperties", scope_json(Scope::kModel)}};
}

// ---- how it is read ----

bool read_flag(const Value& value, const std::string& key, Problems& problems) {
  const std::optional<bool> flag = to_boolean(value);
  if (!flag) problems.add(value.position, key, "expected true or false, found " + describe(value));
  return flag.value_or(false);
}

void read_into(Type type, const Value& value, const std::string& key, Expr& expr,
               Problems& problems) {
  if (auto parsed = parse_expression(type, false, value, key, problems)) expr = std::move(*parsed);
}

// A pattern holds exactly the placeholders that its scope calls for.
void check_pattern(const TensorTemplate& words, std::string_view text, const Position& position,
                   const std::string& key, Problems& problems) {
  const bool wants_layer = words.scope != Scope::kModel;
  const bool wants_expert = words.scope == Scope::kExpert && !words.slice;
  bool layer = false, expert = false, other = false;
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
  if (other || layer != wants_layer || expert != wants_expert) {
    const std::string wanted = wants_expert ? "{l} and {e}" : wants_layer ? "{l}" : "";
    problems.add(position, key,
                 quote(text) + " must hold " +
                     (wanted.empty() ? "no { or }" : wanted + " and no other { or }"));
  }
}

std::optional<RowSelection> read_rows(const Value& value, const std::string& key,
                                      Problems& problems) {
  RowSelection rows;
  rows.from.literal = int64_t{0};
  rows.count.literal = int64_t{1};
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    if (entry.key == "group") {
      read_into(Type::kInteger, entry, path, rows.group, problems);
    } else if (entry.key == "from") {
      read_into(Type::kInteger, entry, path, rows.from, problems);
    } else if (entry.key == "count") {
      read_into(Type::kInteger, entry, path, rows.count, problems);
    } else if (entry.key == "transpose") {
      rows.transpose = read_flag(entry, path, problems);
    } else {
      problems.add(entry.key_position, path,
                   "unknown key" + suggestion(entry.key, {"group", "from", "count", "transpose"}));
    }
  }
  if (value.is_map() && value.find("group") == nullptr) {
    problems.add(value.position, join(key, "group"), "is missing; it is required");
  }
  return rows;
}

// The keys of a template that is a map, but its name.
void read_key(const Value& entry, const std::string& path, TensorTemplate& words,
              Problems& problems) {
  if (entry.key == "when") {
    read_into(Type::kBoolean, entry, path, words.when, problems);
  } else if (entry.key == "optional") {
    read_into(Type::kBoolean, entry, path, words.optional, problems);
  } else if (entry.key == "tied_to") {
    words.tied_to = entry.text;
    if (!entry.is_scalar()) {
      problems.add(entry.position, path, "expected a role, found " + describe(entry));
    }
  } else if (entry.key == "slice") {
    words.slice = true;
    if (!entry.is_scalar() || entry.text != "{e}" || words.scope != Scope::kExpert) {
      problems.add(entry.position, path,
                   words.scope == Scope::kExpert ? "expected \"{e}\", found " + describe(entry)
                                                 : "has a meaning for the roles of `expert` only");
    }
  } else if (entry.key == "transpose") {
    words.transpose = read_flag(entry, path, problems);
  } else if (entry.key == "rows") {
    words.rows = read_rows(entry, path, problems);
  } else if (entry.key == "scales") {
    words.scales = entry.text;
    if (!entry.is_scalar() || entry.text.empty()) {
      problems.add(entry.position, path, "expected the name of a tensor, found " + describe(entry));
    }
  } else if (entry.key != "name" && entry.key != "blocks") {
    problems.add(
        entry.key_position, path,
        "unknown key" + suggestion(entry.key, {"name", "blocks", "scales", "when", "optional",
                                               "tied_to", "slice", "transpose", "rows"}));
  }
}

// "name", or a map.
void read_template(Scope scope, const std::string& role, const Value& value, const std::string& key,
                   std::vector<TensorTemplate>& templates, Problems& problems) {
  TensorTemplate words;
  words.scope = scope;
  words.role = role;
  words.position = value.position;
  words.key = key;
  words.when.literal = true;
  words.optional.literal = false;
  const Value* name = &value;
  if (value.is_map()) {
    name = value.find("name");
    if (const Value* blocks = value.find("blocks")) {
      words.blocks = true;
      if (name != nullptr) problems.add(value.position, key, "has a name or blocks, not both");
      name = blocks;
    }
    for (const Value& entry : value.children) {
      read_key(entry, join(key, entry.key), words, problems);
    }
    if (words.transpose && words.rows && words.rows->transpose) {
      problems.add(value.position, key, "transposes the matrix or its groups of rows, not both");
    }
  }
  if (name == nullptr) {
    problems.add(value.position, join(key, "name"), "is missing; it is required");
  } else if (!name->is_scalar() || name->text.empty()) {
    problems.add(name->position, key, "expected the name of a tensor, found " + describe(*name));
  } else {
    words.pattern = name->text;
    check_pattern(words, words.pattern, name->position, key, problems);
  }
  if (words.blocks && words.scales.empty()) {
    problems.add(value.position, join(key, "scales"), "is missing; blocks need it");
  }
  if (const size_t at = words.scales.find("{name}"); at != std::string::npos) {
    words.scales.replace(at, 6, words.pattern);
  }
  if (!words.scales.empty()) {
    check_pattern(words, words.scales, value.position, join(key, "scales"), problems);
  }
  templates.push_back(std::move(words));
}

// One template, or a list of them.
void read_role(Scope scope, const Value& value, const std::string& key,
               std::vector<TensorTemplate>& templates, Problems& problems) {
  if (!value.is_list()) {
    read_template(scope, value.key, value, key, templates, problems);
    return;
  }
  if (value.children.empty()) problems.add(value.position, key, "names no tensor");
  for (size_t i = 0; i < value.children.size(); ++i) {
    read_template(scope, value.key, value.children[i], join(key, std::to_string(i)), templates,
                  problems);
  }
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

// One scope of a vocabulary's tensors; kModel holds the others.
void read_scope(Scope scope, const Value& value, const std::string& key, Vocabulary& vocabulary,
                Problems& problems) {
  std::vector<std::string_view> roles, allowed;
  for (const RoleField& role : kRoleFields) {
    if (role.scope == scope) roles.push_back(role.name);
  }
  allowed = roles;
  if (scope == Scope::kModel) {
    for (const Scope inner : kInnerScopes) allowed.push_back(scope_key(inner));
    allowed.push_back("ignore");
  }
  for (const Value& entry : entries(value, key, problems)) {
    const std::string path = join(key, entry.key);
    const auto inner = std::find_if(std::begin(kInnerScopes), std::end(kInnerScopes),
                                    [&](Scope s) { return entry.key == scope_key(s); });
    if (scope == Scope::kModel && entry.key == "ignore") {
      vocabulary.ignore = read_globs(entry, path, problems);
    } else if (scope == Scope::kModel && inner != std::end(kInnerScopes)) {
      read_scope(*inner, entry, path, vocabulary, problems);
    } else if (std::find(roles.begin(), roles.end(), entry.key) != roles.end()) {
      read_role(scope, entry, path, vocabulary.tensors, problems);
    } else {
      problems.add(entry.key_position, path, "unknown key" + suggestion(entry.key, allowed));
    }
  }
  for (const RoleField& role : kRoleFields) {
    if (role.scope == scope && role.need == RoleField::Need::kAlways && value.is_map() &&
        value.find(role.name) == nullptr) {
      problems.add(value.position, join(key, role.name), "is missing; it is required");
    }
  }
  if (scope == Scope::kModel && value.is_map() && value.find("layer") == nullptr) {
    problems.add(value.position, join(key, "layer"), "is missing; it is required");
  }
}

// A tensor can stand in only for one of the whole model: elsewhere there is one per layer.
void check_ties(const Vocabulary& vocabulary, Problems& problems) {
  for (const TensorTemplate& tensor : vocabulary.tensors) {
    if (tensor.tied_to.empty()) continue;
    if (tensor.role != "head" || tensor.tied_to != "embedding") {
      problems.add(tensor.position, join(tensor.key, "tied_to"),
                   "only the head can be tied, and only to the embedding");
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

constexpr FieldType kTensorsType = {tensors_text, tensors_json, read_tensors,
                                    nullptr,      false,        tensors_names};

}  // namespace colibri::config
