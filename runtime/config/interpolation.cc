// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "runtime/base/utf8.h"
#include "runtime/config/overlay.h"

namespace colibri::config {
namespace {

constexpr std::string_view kOpening = "${env:";

bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    if (!allowed(c)) return false;
  }
  return true;
}

// Replaces the references of one scalar; false = a problem was reported.
bool interpolate_scalar(Value& value, const std::string& key, Problems& problems) {
  const auto refuse = [&](std::string text) {
    problems.add(value.position, key, std::move(text));
    return false;
  };
  std::string result;
  const std::string_view text = value.text;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("$$")) {
      result += '$';
      at += 2;
    } else if (rest.starts_with("${")) {
      const size_t end = rest.find('}');
      if (!rest.starts_with(kOpening) || end == rest.npos) {
        return refuse("'${' must begin ${env:NAME} or ${env:NAME:-default}; $$ stands for a '$'");
      }
      std::string_view name = rest.substr(kOpening.size(), end - kOpening.size());
      const size_t dash = name.find(":-");
      const std::string fallback(dash == name.npos ? "" : name.substr(dash + 2));
      name = name.substr(0, dash);
      if (!is_name(name)) return refuse(quote(name) + " is no name of an environment variable");
      const char* found = std::getenv(std::string(name).c_str());
      if (found == nullptr && dash == name.npos) {
        return refuse("the environment variable " + std::string(name) +
                      " is not set; set it, or write ${env:" + std::string(name) + ":-default}");
      }
      const std::string_view replacement = found == nullptr ? std::string_view(fallback) : found;
      if (!utf8::valid(replacement)) {
        return refuse("the environment variable " + std::string(name) + " is not UTF-8 text");
      }
      result += replacement;
      value.variable = name;
      value.quoted = false;
      at += end + 1;
    } else {
      result += text[at++];
    }
  }
  value.text = std::move(result);
  return true;
}

}  // namespace

void interpolate(Value& value, const std::string& key, Problems& problems) {
  if (value.is_scalar()) {
    if (!interpolate_scalar(value, key, problems)) value.text.clear();
    return;
  }
  for (size_t i = 0; i < value.children.size(); ++i) {
    Value& child = value.children[i];
    interpolate(child, join(key, value.is_map() ? child.key : std::to_string(i)), problems);
  }
}

}  // namespace colibri::config
