// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/value.h"

#include <charconv>

namespace colibri::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Length of the decimal integer at the start of text: an optional minus sign and digits without a
// leading zero; 0 = there is none.
size_t integer_prefix(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const size_t first = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  const bool leading_zero = at > first + 1 && text[first] == '0';
  return at == first || leading_zero ? 0 : at;
}

// Skips digits from `at`; false if there are none.
bool skip_digits(std::string_view text, size_t& at) {
  const size_t first = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at > first;
}

// -12, 0.5, 1e-6: the numbers of JSON.
bool is_number(std::string_view text) {
  size_t at = integer_prefix(text);
  if (at == 0) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!skip_digits(text, at)) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!skip_digits(text, at)) return false;
  }
  return at == text.size();
}

template <typename T>
std::optional<T> parsed(std::string_view text) {
  T number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional<T>(number) : std::nullopt;
}

}  // namespace

const Value* Value::find(std::string_view name) const {
  if (!is_map()) return nullptr;
  for (const Value& child : children) {
    if (child.key == name) return &child;
  }
  return nullptr;
}

const Value* Value::at(std::string_view path) const {
  const Value* value = this;
  while (value != nullptr && !path.empty()) {
    const size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
    if (value->is_list()) {
      const std::optional<size_t> index = parsed<size_t>(step);
      value = index && *index < value->children.size() ? &value->children[*index] : nullptr;
    } else {
      value = value->find(step);
    }
  }
  return value;
}

std::optional<int64_t> to_integer(const Value& value) {
  const std::string_view text = value.text;
  if (!value.is_scalar() || value.quoted || text.empty()) return {};
  if (integer_prefix(text) != text.size()) return {};
  return parsed<int64_t>(text);
}

std::optional<double> to_number(const Value& value) {
  if (!value.is_scalar() || value.quoted || !is_number(value.text)) return {};
  return parsed<double>(value.text);
}

std::optional<bool> to_boolean(const Value& value) {
  if (!value.is_scalar() || value.quoted) return {};
  if (value.text == "true") return true;
  if (value.text == "false") return false;
  return {};
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "nothing (null)";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kMap:
      return "a map";
    case Value::Kind::kScalar:
      break;
  }
  return (value.quoted ? "the quoted text " : "") + quote(value.text);
}

}  // namespace colibri::config
