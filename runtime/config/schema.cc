// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/schema.h"

#include <algorithm>
#include <utility>

namespace colibri::config {
namespace {

Value default_of(const Field& field) {
  Problems none;
  Value value = parse_yaml(field.fallback, kDefault, none).value_or(Value());
  const auto move_to_default = [](auto& self, Value& part) -> void {
    part.position.line = 0;
    part.key_position.line = 0;
    for (Value& child : part.children) self(self, child);
  };
  move_to_default(move_to_default, value);
  return value;
}

void report_unknown_keys(const Table& table, const Value& value, const std::string& key,
                         Problems& problems) {
  std::vector<std::string_view> allowed;
  for (const Field& field : table.fields) allowed.push_back(field.name);
  for (const Value& child : value.children) {
    if (table.find(child.key) == nullptr) {
      problems.add(child.key_position, join(key, child.key),
                   "unknown key" + suggestion(child.key, allowed));
    }
  }
}

Value complete_field(const Field& field, Value value, const std::string& key, Problems& problems) {
  if (field.table != nullptr && field.list && value.is_list()) {
    for (size_t i = 0; i < value.children.size(); ++i) {
      value.children[i] = complete(*field.table, std::move(value.children[i]),
                                   join(key, std::to_string(i)), problems);
    }
  } else if (field.table != nullptr && !field.list && (value.is_map() || field.choices.empty())) {
    return complete(*field.table, std::move(value), key, problems);
  } else if (field.type != nullptr && field.type->normalise != nullptr) {
    field.type->normalise(value);
  }
  return value;
}

bool is_index(std::string_view step) {
  return step == "*" || (!step.empty() && step.find_first_not_of("0123456789") == step.npos);
}

void collect_keys(const Table& table, const std::string& key, std::vector<std::string>& keys) {
  for (const Field& field : table.fields) {
    const std::string path = join(key, field.name);
    if (field.table == nullptr || !field.choices.empty()) keys.push_back(path);
    if (field.table != nullptr) collect_keys(*field.table, field.list ? path + ".*" : path, keys);
  }
}

}  // namespace

const Field* Table::find(std::string_view field_name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name == field_name; });
  return found == fields.end() ? nullptr : &*found;
}

Value complete(const Table& table, Value value, const std::string& key, Problems& problems) {
  Value result;
  result.kind = Value::Kind::kMap;
  result.position = value.position;
  result.key = value.key;
  result.key_position = value.key_position;
  if (!value.is_map()) {
    problems.add(value.position, key, "expected a map, found " + describe(value));
    value.children.clear();
  }
  report_unknown_keys(table, value, key, problems);
  for (const Field& field : table.fields) {
    const std::string path = join(key, field.name);
    const auto given = std::find_if(value.children.begin(), value.children.end(),
                                    [&](const Value& child) { return child.key == field.name; });
    if (given == value.children.end() && field.required()) {
      if (value.is_map()) problems.add(value.position, path, "is missing; it is required");
      continue;
    }
    Value child = given == value.children.end() ? default_of(field) : std::move(*given);
    child.key = field.name;
    result.children.push_back(complete_field(field, std::move(child), path, problems));
  }
  return result;
}

void read(const Table& table, const Value& value, const std::string& key, void* object,
          Problems& problems) {
  for (const Field& field : table.fields) {
    const Value* child = value.find(field.name);
    if (child == nullptr) continue;  // reported as missing
    void* member = field.member == nullptr ? nullptr : field.member(object);
    field.type->read(field, *child, join(key, field.name), member, problems);
  }
}

const Field* find_field(const Table& table, std::string_view path) {
  const Table* level = &table;
  const Field* field = nullptr;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
    if (field != nullptr && field->list && is_index(step)) continue;
    if (level == nullptr) return nullptr;
    field = level->find(step);
    if (field == nullptr) return nullptr;
    level = field->table;
  }
  return field;
}

std::vector<std::string> all_keys(const Table& table) {
  std::vector<std::string> keys;
  collect_keys(table, "", keys);
  return keys;
}

}  // namespace colibri::config
