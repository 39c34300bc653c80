// SPDX-License-Identifier: Apache-2.0
// UTF-8: checking, stepping, cutting. All offsets and lengths are bytes. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace colibri::utf8 {

struct Character {
  char32_t code_point;
  size_t size;  // bytes; 0 = the bytes at this place are not UTF-8
};

// The character that starts at text[at]; at < text.size(). Overlong forms, surrogates and values
// past U+10FFFF are not UTF-8 (Unicode 15, table 3-7).
Character decode(std::string_view text, size_t at);

// Offset of the first byte that is not UTF-8, or text.size() if all of it is.
size_t valid_prefix(std::string_view text);
inline bool valid(std::string_view text) {
  return valid_prefix(text) == text.size();
}

// The longest prefix of at most `bytes` bytes that does not cut a character in half.
std::string_view truncated(std::string_view text, size_t bytes);

// Text from a file or request for use in a message: between single quotes, control characters and
// bytes that are not UTF-8 as \xNN, cut behind kPrintableBytes bytes.
constexpr size_t kPrintableBytes = 120;
std::string printable(std::string_view text);

}  // namespace colibri::utf8
