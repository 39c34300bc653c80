// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/string_literal.h"

#include "runtime/chat/template/characters.h"

namespace colibri::chat {
namespace {

int digit_value(char c, int base) {
  const char lower = static_cast<char>(c | 0x20);
  const int value = c >= '0' && c <= '9'           ? c - '0'
                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                   : 99;
  return value < base ? value : -1;
}

// Reads up to `most` digits at `at` and steps over them.
char32_t read_digits(std::string_view text, size_t& at, size_t most, int base) {
  char32_t value = 0;
  for (size_t n = 0; n < most && at < text.size(); ++n, ++at) {
    const int digit = digit_value(text[at], base);
    if (digit < 0) break;
    value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
  }
  return value;
}

Status add_code_point(char32_t c, std::string& to) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
    return invalid_argument("an escape in this text is no character");
  }
  append_utf8(to, c);
  return {};
}

Status read_hexadecimal(std::string_view text, size_t& at, size_t digits, std::string& to) {
  const size_t start = at;
  const char32_t c = read_digits(text, at, digits, 16);
  if (at != start + digits) return invalid_argument("an escape in this text is cut off");
  return add_code_point(c, to);
}

}  // namespace

Result<std::string> unescape(std::string_view literal) {
  static constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeant = "\\'\"\a\b\f\n\r\t\v";
  std::string text;
  for (size_t at = 0; at < literal.size();) {
    const char c = literal[at++];
    if (c != '\\' || at == literal.size()) {
      text += c;
      continue;
    }
    const char letter = literal[at];
    if (const size_t known = kLetters.find(letter); known != kLetters.npos) {
      text += kMeant[known];
      ++at;
    } else if (letter == '\n') {
      ++at;
    } else if (digit_value(letter, 8) >= 0) {
      COLIBRI_TRY(add_code_point(read_digits(literal, at, 3, 8), text));
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
      COLIBRI_TRY(read_hexadecimal(literal, ++at, digits, text));
    } else if (letter == 'N') {
      return invalid_argument("\\N{...} in this text is not supported; write the character itself");
    } else {
      text += '\\';
    }
  }
  return text;
}

}  // namespace colibri::chat
