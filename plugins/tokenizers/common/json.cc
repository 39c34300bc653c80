// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/json.h"

#include <algorithm>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxBytes = size_t{1} << 30;

std::string member_path(const std::string& path, std::string_view key) {
  const bool root = path.ends_with(": ");
  return path + (root ? "" : ".") + std::string(key);
}

}  // namespace

Status Value::corrupt(const std::string& what) const {
  return corrupt_data(path_ + (path_.ends_with(": ") ? "" : ": ") + what);
}

Status Value::refused(const std::string& what) const {
  return unsupported(path_ + (path_.ends_with(": ") ? "" : ": ") + what);
}

Status Value::expected(const std::string& what) const {
  return corrupt("expected " + what);
}

Result<bool> Value::boolean() const {
  bool value = false;
  if (element_.get(value) != simdjson::SUCCESS) return expected("true or false");
  return value;
}

Result<std::string_view> Value::string() const {
  std::string_view value;
  if (element_.get(value) != simdjson::SUCCESS) return expected("a string");
  return value;
}

Result<int32_t> Value::integer(int32_t limit) const {
  int64_t value = 0;
  if (element_.get(value) != simdjson::SUCCESS || value < 0 || value >= limit) {
    return expected("a whole number from 0 to " + std::to_string(limit - 1));
  }
  return static_cast<int32_t>(value);
}

Result<std::vector<Value>> Value::array() const {
  simdjson::dom::array array;
  if (element_.get(array) != simdjson::SUCCESS) return expected("an array");
  std::vector<Value> values;
  for (const simdjson::dom::element element : array) {
    values.emplace_back(element, path_ + "[" + std::to_string(values.size()) + "]");
  }
  return values;
}

Result<Fields> Value::fields(std::initializer_list<std::string_view> known) const {
  simdjson::dom::object object;
  if (element_.get(object) != simdjson::SUCCESS) return expected("an object");
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return expected("the key " + utf8::printable(name) + " only once");
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return refused("unknown key " + utf8::printable(name) + " might change the result");
    }
    seen.push_back(name);
  }
  return Fields(object, path_);
}

Result<std::string_view> Value::type() const {
  simdjson::dom::object object;
  if (element_.get(object) != simdjson::SUCCESS) return expected("an object");
  std::string_view type;
  if (object["type"].get(type) != simdjson::SUCCESS) return expected("a string member \"type\"");
  return type;
}

Result<Value> Fields::required(std::string_view key) const {
  simdjson::dom::element element;
  if (object_[key].get(element) != simdjson::SUCCESS) {
    return corrupt_data(member_path(path_, key) + ": missing");
  }
  return Value(element, member_path(path_, key));
}

std::optional<Value> Fields::find(std::string_view key) const {
  simdjson::dom::element element;
  if (object_[key].get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  return Value(element, member_path(path_, key));
}

Result<bool> Fields::boolean(std::string_view key) const {
  COLIBRI_ASSIGN(const Value value, required(key));
  return value.boolean();
}

Result<bool> Fields::boolean_or(std::string_view key, bool absent) const {
  const std::optional<Value> value = find(key);
  if (!value) return absent;
  return value->boolean();
}

Result<Value> parse_json(simdjson::dom::parser& parser, std::string_view bytes,
                         const std::string& file) {
  if (bytes.size() > kMaxBytes) {
    return unsupported(file + ": larger than 1 GiB");
  }
  if (const auto error = parser.allocate(std::max<size_t>(bytes.size(), 64), kMaxDepth);
      error != simdjson::SUCCESS) {
    return out_of_memory(file + ": " + simdjson::error_message(error));
  }
  simdjson::dom::element root;
  if (const auto error = parser.parse(bytes.data(), bytes.size()).get(root);
      error != simdjson::SUCCESS) {
    return corrupt_data(file + ": not valid JSON of at most " + std::to_string(kMaxDepth) +
                        " levels: " + simdjson::error_message(error));
  }
  return Value(root, file + ": ");
}

}  // namespace colibri::tokenizers
