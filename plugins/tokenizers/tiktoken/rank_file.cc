// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/tiktoken/rank_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "plugins/tokenizers/common/vocabulary.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// RFC 4648, padded.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = sextet(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> count) & 0xFF);
    }
  }
  return (bits & ((1u << count) - 1)) == 0 ? std::optional(bytes) : std::nullopt;
}

struct Line {
  std::string token;
  int32_t rank = -1;
};

std::optional<Line> read_line(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(space + 1);
  Line line;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), line.rank);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (line.rank < 0 || line.rank >= kMaxIds) return std::nullopt;
  std::optional<std::string> token = from_base64(text.substr(0, space));
  if (!token) return std::nullopt;
  line.token = std::move(*token);
  return line;
}

std::string_view next_line(std::string_view& file) {
  const size_t end = std::min(file.find('\n'), file.size());
  std::string_view line = file.substr(0, end);
  file.remove_prefix(std::min(end + 1, file.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Status check_bytes(const std::vector<std::string>& tokens) {
  std::vector<bool> found(256);
  for (const std::string& token : tokens) {
    if (token.size() == 1) found[static_cast<unsigned char>(token[0])] = true;
  }
  if (std::find(found.begin(), found.end(), false) == found.end()) return {};
  return corrupt_data("not all of the 256 single bytes are tokens");
}

}  // namespace

bool is_rank_file(std::string_view file) {
  return read_line(next_line(file)).has_value();
}

Result<std::vector<std::string>> read_rank_file(std::string_view file) {
  std::vector<std::string> tokens;
  size_t count = 0;
  for (size_t number = 1; !file.empty(); ++number) {
    const std::string_view text = next_line(file);
    if (text.empty()) continue;
    std::optional<Line> line = read_line(text);
    if (!line || line->token.empty()) {
      return corrupt_data("line " + std::to_string(number) +
                          ": expected a token in base64 and its rank, not " +
                          utf8::printable(text));
    }
    const auto rank = static_cast<size_t>(line->rank);
    if (rank >= tokens.size()) tokens.resize(rank + 1);
    if (!tokens[rank].empty()) {
      return corrupt_data("line " + std::to_string(number) + ": the rank " + std::to_string(rank) +
                          " comes twice");
    }
    tokens[rank] = std::move(line->token);
    ++count;
  }
  if (count != tokens.size()) {
    return corrupt_data("the ranks of " + std::to_string(count) + " tokens end at " +
                        std::to_string(tokens.size()) + "; they must not leave gaps");
  }
  COLIBRI_TRY(check_bytes(tokens));
  return tokens;
}

}  // namespace colibri::tokenizers
