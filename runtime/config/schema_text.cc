// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/schema_text.h"

#include <vector>

namespace colibri::config {
namespace {

std::string default_text(const Field& field) {
  return field.required() ? "required" : std::string(field.fallback);
}

// Text for a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*') result += '\\';
    result += c;
  }
  return result;
}

std::string code(const std::string& text) {
  return "`" + text + "`";
}

void append_names(const std::vector<Name>& names, std::string& page) {
  page += "\n| name | meaning |\n|---|---|\n";
  for (const Name& name : names) {
    page += "| " + code(std::string(name.name)) + " | " + cell(name.doc) + " |\n";
  }
}

void append_table(const Table& table, const std::string& key, std::string& page) {
  page += "\n| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const Field& field : table.fields) {
    page += "| " + code(join(key, field.name)) + " | " + cell(field.type->text(field)) + " | " +
            (field.required() ? "required" : code(default_text(field))) + " | " + cell(field.doc) +
            " |\n";
  }
  for (const Field& field : table.fields) {
    const std::string path = join(key, field.name);
    if (field.table != nullptr) {
      page += "\n## " + path + "\n";
      append_table(*field.table, field.list ? path + ".N" : path, page);
    } else if (field.type->names != nullptr) {
      page += "\n## " + path + "\n";
      append_names(field.type->names(), page);
    }
  }
}

// The longest part of a dotted path that is a key, and the keys below it.
Status unknown_key(const Table& table, const std::string& key) {
  const Table* level = &table;
  std::string known;
  std::string_view step, rest = key;
  for (;;) {
    const size_t dot = rest.find('.');
    step = rest.substr(0, dot);
    const std::string path = join(known, step);
    const Field* field = find_field(table, path);
    if (field == nullptr || field->table == nullptr || dot == rest.npos) break;
    level = field->table;
    known = path;
    rest = rest.substr(dot + 1);
  }
  std::vector<std::string_view> allowed;
  for (const Field& field : level->fields) allowed.push_back(field.name);
  return not_found(quote(key) + " is no key of kind " + std::string(table.name) +
                   suggestion(step, allowed));
}

}  // namespace

std::string reference_page(const Table& table) {
  std::string page(table.doc);
  page += "\n## Keys\n";
  append_table(table, "", page);
  return page;
}

Result<std::string> explain(const Table& table, const std::string& key) {
  const Field* field = find_field(table, key);
  if (field == nullptr) return unknown_key(table, key);
  std::string text = key + "\n  " + std::string(field->doc) + "\n";
  text += "  value:   " + field->type->text(*field) + "\n";
  text += "  default: " + default_text(*field) + "\n";
  std::vector<Name> names;
  if (field->type->names != nullptr) names = field->type->names();
  if (field->table != nullptr) {
    for (const Field& inner : field->table->fields) names.push_back({inner.name, inner.doc});
  }
  if (!names.empty()) text += "  keys:\n";
  for (const Name& name : names) {
    text += "    " + std::string(name.name) + ": " + std::string(name.doc) + "\n";
  }
  return text;
}

}  // namespace colibri::config
