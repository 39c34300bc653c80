// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/field_types.h"

#include <nlohmann/json.hpp>

namespace colibri::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kAuto = "auto";

// ---- texts and paths ----

std::string text_text(const Field& field) {
  return field.min > 0 ? "non-empty text" : "text";
}

Json text_json(const Field& field) {
  Json json = {{"type", "string"}};
  if (field.min > 0) json["minLength"] = field.min;
  return json;
}

bool check_text(const Field& field, const Value& value, const std::string& key,
                Problems& problems) {
  const bool good = value.is_scalar() && static_cast<int64_t>(value.text.size()) >= field.min;
  if (!good) problems.add(value.position, key, mismatch(field, value));
  return good;
}

void read_text(const Field& field, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  if (check_text(field, value, key, problems)) *static_cast<std::string*>(member) = value.text;
}

std::string path_text(const Field&) {
  return "a path (relative to this file)";
}

void read_path(const Field& field, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  if (value.is_scalar() && !value.text.empty()) {
    *static_cast<std::filesystem::path*>(member) = value.text;
  } else {
    problems.add(value.position, key, mismatch(field, value));
  }
}

Json path_json(const Field&) {
  return {{"type", "string"}, {"minLength", 1}};
}

void normalise_path(Value& value) {
  if (value.is_scalar()) value.text = resolved_path(value);
}

// ---- integers ----

std::string integer_text(const Field& field) {
  return "an integer from " + std::to_string(field.min) + " to " + std::to_string(field.max);
}

Json integer_json(const Field& field) {
  return {{"type", "integer"}, {"minimum", field.min}, {"maximum", field.max}};
}

std::string auto_integer_text(const Field& field) {
  return "auto, or " + integer_text(field);
}

Json auto_integer_json(const Field& field) {
  return {{"anyOf", Json::array({{{"const", kAuto}}, integer_json(field)})}};
}

std::optional<int64_t> integer_in_range(const Field& field, const Value& value,
                                        const std::string& key, Problems& problems) {
  const std::optional<int64_t> number = to_integer(value);
  if (number && *number >= field.min && *number <= field.max) return number;
  problems.add(value.position, key, mismatch(field, value));
  return {};
}

template <typename T>
void read_integer(const Field& field, const Value& value, const std::string& key, void* member,
                  Problems& problems) {
  if (const auto number = integer_in_range(field, value, key, problems)) {
    *static_cast<T*>(member) = static_cast<T>(*number);
  }
}

void read_auto_integer(const Field& field, const Value& value, const std::string& key, void* member,
                       Problems& problems) {
  auto& result = *static_cast<std::optional<uint32_t>*>(member);
  if (value.is_scalar() && value.text == kAuto) {
    result.reset();
  } else if (const auto number = integer_in_range(field, value, key, problems)) {
    result = static_cast<uint32_t>(*number);
  }
}

// ---- lists ----

// The field that describes the items of a list.
Field item_of(const Field& field, const FieldType& type) {
  Field item = field;
  item.type = &type;
  return item;
}

std::string texts_text(const Field& field) {
  return field.min > 0 ? "a list of non-empty texts" : "a list of texts";
}

std::string paths_text(const Field&) {
  return "a list of paths (relative to this file)";
}

template <const FieldType& item>
Json list_json(const Field& field) {
  return {{"type", "array"}, {"items", item.json(field)}};
}

template <const FieldType& item, typename T>
void read_list(const Field& field, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  if (!value.is_list()) {
    problems.add(value.position, key, mismatch(field, value));
    return;
  }
  std::vector<T> items(value.children.size());
  for (size_t i = 0; i < items.size(); ++i) {
    item.read(item_of(field, item), value.children[i], join(key, std::to_string(i)), &items[i],
              problems);
  }
  if (member != nullptr) *static_cast<std::vector<T>*>(member) = std::move(items);
}

void normalise_paths(Value& value) {
  for (Value& child : value.children) normalise_path(child);
}

// ---- tables ----

std::string table_text(const Field&) {
  return "a map of the keys below";
}
Json table_json(const Field&) {
  return {{"type", "object"}};
}
void read_table(const Field& field, const Value& value, const std::string& key, void* member,
                Problems& problems) {
  read(*field.table, value, key, member, problems);
}

// What a person who wrote this scalar may have missed.
std::string hint(const Value& value) {
  if (!value.is_scalar() || value.text.empty()) return {};
  Value plain = value;
  plain.quoted = false;
  if (value.quoted && (to_number(plain) || to_boolean(plain))) return " (take the quotes away)";
  const size_t digits = value.text.find_first_not_of("0123456789");
  if (digits == std::string::npos && value.text.size() > 1 && value.text[0] == '0') {
    return " (numbers are decimal and have no leading zeros)";
  }
  return {};
}

}  // namespace

std::string mismatch(const Field& field, const Value& value) {
  return "expected " + field.type->text(field) + ", found " + describe(value) + hint(value);
}

const Choice* read_choice(const Field& field, const Value& value, const std::string& key,
                          Problems& problems) {
  std::vector<std::string_view> names;
  for (const Choice& choice : field.choices) {
    if (value.is_scalar() && value.text == choice.name) return &choice;
    names.push_back(choice.name);
  }
  problems.add(value.position, key,
               value.is_scalar()
                   ? "unknown value " + quote(value.text) + suggestion(value.text, names)
                   : mismatch(field, value));
  return nullptr;
}

std::string choice_text(const Field& field) {
  std::string text;
  for (const Choice& choice : field.choices) {
    if (!text.empty()) text += " | ";
    text += choice.name;
  }
  return text;
}

nlohmann::ordered_json choice_json(const Field& field) {
  Json names = Json::array();
  for (const Choice& choice : field.choices) {
    const bool boolean = choice.name == "true" || choice.name == "false";
    names.push_back(boolean ? Json(choice.name == "true") : Json(choice.name));
  }
  return {{"enum", std::move(names)}};
}

std::string resolved_path(const Value& value) {
  const std::filesystem::path path = value.text;
  if (path.empty() || value.position.line == 0) return value.text;
  const std::filesystem::path folder = std::filesystem::path(*value.position.file).parent_path();
  return (folder / path).lexically_normal().string();
}

constexpr FieldType kTextType = {text_text, text_json, read_text, nullptr, true};
constexpr FieldType kPathType = {path_text, path_json, read_path, normalise_path, true};
constexpr FieldType kUint32Type = {integer_text, integer_json, read_integer<uint32_t>};
constexpr FieldType kUint64Type = {integer_text, integer_json, read_integer<uint64_t>};
constexpr FieldType kAutoUint32Type = {auto_integer_text, auto_integer_json, read_auto_integer};
constexpr FieldType kTextsType = {texts_text, list_json<kTextType>,
                                  read_list<kTextType, std::string>};
constexpr FieldType kPathsType = {paths_text, list_json<kPathType>,
                                  read_list<kPathType, std::filesystem::path>, normalise_paths};
constexpr FieldType kTableType = {table_text, table_json, read_table};

}  // namespace colibri::config
