// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/system_file.h"

#include <charconv>
#include <fstream>

namespace colibri::machine {

std::optional<std::string> read_system_file(const std::string& path) {
  constexpr size_t kMost = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  char piece[4096];
  while (text.size() < kMost && (file.read(piece, sizeof(piece)), file.gcount() > 0)) {
    text.append(piece, static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return std::nullopt;
  return text;
}

std::optional<uint64_t> read_number(const std::string& path) {
  const std::optional<std::string> text = read_system_file(path);
  return text ? parse_number(trimmed(*text)) : std::nullopt;
}

std::optional<uint64_t> number_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::string_view rest = trimmed(line.substr(key.size()));
    if (rest.size() == line.size() - key.size()) continue;  // a longer key that starts the same
    return parse_number(rest.substr(0, rest.find_first_of(" \t")));
  }
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace colibri::machine
