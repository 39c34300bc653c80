// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/token_type.h"

#include <charconv>

namespace colibri::tokenizers {

std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

}  // namespace colibri::tokenizers
