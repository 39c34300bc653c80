// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/print.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace colibri::config {
namespace {

constexpr size_t kWidestAligned = 60;

bool is_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-' || c == '%';
  };
  return !text.empty() && text[0] != '-' && text[0] != '%' &&
         std::all_of(text.begin(), text.end(), allowed);
}

// A word as it is, any other text as JSON writes it, which YAML reads.
std::string scalar_text(const std::string& text, bool quoted) {
  std::string escaped;
  for (const char c : text) escaped += c == '$' ? "$$" : std::string(1, c);
  return !quoted && is_word(text) ? text : nlohmann::json(escaped).dump();
}

std::string flow_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kScalar:
      return scalar_text(value.text, value.quoted);
    case Value::Kind::kList:
    case Value::Kind::kMap:
      break;
  }
  std::string text;
  for (const Value& child : value.children) {
    if (!text.empty()) text += ", ";
    if (value.is_map()) text += scalar_text(child.key, false) + ": ";
    text += flow_text(child);
  }
  return value.is_map() ? "{" + text + "}" : "[" + text + "]";
}

std::string origin(const Value& value) {
  return value.position.text() + (value.variable.empty() ? "" : ", env " + value.variable);
}

class Printer {
 public:
  void add(const Value& map, const std::string& indent, std::string first_indent) {
    for (const Value& child : map.children) {
      const std::string head =
          std::exchange(first_indent, indent) + scalar_text(child.key, false) + ":";
      const bool maps =
          child.is_list() && !child.children.empty() && child.children.front().is_map();
      if (child.is_map() && !child.children.empty()) {
        lines_.push_back({head, ""});
        add(child, indent + "  ", indent + "  ");
      } else if (maps) {
        lines_.push_back({head, ""});
        for (const Value& item : child.children) add(item, indent + "    ", indent + "  - ");
      } else {
        lines_.push_back({head + " " + flow_text(child), origin(child)});
      }
    }
  }

  std::string text() const {
    size_t width = 0;
    for (const auto& [text, comment] : lines_) {
      if (text.size() <= kWidestAligned) width = std::max(width, text.size());
    }
    std::string result;
    for (const auto& [text, comment] : lines_) {
      result += text;
      if (!comment.empty()) {
        result.append(width - std::min(width, text.size()) + 2, ' ');
        result += "# " + comment;
      }
      result += '\n';
    }
    return result;
  }

 private:
  std::vector<std::pair<std::string, std::string>> lines_;  // text, comment
};

}  // namespace

std::string print_with_origins(const Value& document) {
  Printer printer;
  printer.add(document, "", "");
  return printer.text();
}

}  // namespace colibri::config
