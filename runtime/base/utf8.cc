// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/utf8.h"

#include <algorithm>

namespace colibri::utf8 {

Character decode(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[at + i]); };
  const size_t left = text.size() - at;
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (size == 0 || size > left) return {0, 0};
  uint32_t value = lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {0, 0};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {0, 0};
  return {value, size};
}

size_t valid_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t size = decode(text, at).size;
    if (size == 0) break;
    at += size;
  }
  return at;
}

std::string_view truncated(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0u) == 0x80u) --bytes;
  return text.substr(0, bytes);
}

std::string printable(std::string_view text) {
  const std::string_view shown = truncated(text, kPrintableBytes);
  std::string result = "'";
  for (size_t at = 0; at < shown.size();) {
    const Character character = decode(shown, at);
    const bool control = character.code_point < 0x20 ||
                         (character.code_point >= 0x7F && character.code_point < 0xA0);
    if (character.size > 0 && !control) {
      result += shown.substr(at, character.size);
      at += character.size;
      continue;
    }
    constexpr char kDigits[] = "0123456789abcdef";
    for (const size_t end = at + std::max<size_t>(character.size, 1); at < end; ++at) {
      const unsigned char byte = static_cast<unsigned char>(shown[at]);
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return result + (shown.size() < text.size() ? "...'" : "'");
}

}  // namespace colibri::utf8
