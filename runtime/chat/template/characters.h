// SPDX-License-Identifier: Apache-2.0
// Characters as Python's str knows them. Texts are valid UTF-8; indices are code points.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace colibri::chat {

bool is_space(char32_t c);       // str.isspace of one character
bool is_line_break(char32_t c);  // where str.splitlines cuts
bool is_alpha(char32_t c);       // categories L*
bool is_decimal(char32_t c);     // category Nd
bool is_upper(char32_t c);       // category Lu
bool is_lower(char32_t c);       // category Ll
bool is_cased(char32_t c);       // categories Lu, Ll, Lt
// The simple case mappings of Unicode: one character to one.
char32_t to_upper(char32_t c);
char32_t to_lower(char32_t c);
char32_t to_title(char32_t c);

void append_utf8(std::string& text, char32_t c);
size_t count_characters(std::string_view text);
// Byte offset of character `index`, or the text's size if it has fewer.
size_t byte_offset(std::string_view text, size_t index);
// Size of the leading and of the trailing characters for which `drop` holds.
template <typename Predicate>
size_t leading(std::string_view text, Predicate drop);
template <typename Predicate>
size_t trailing(std::string_view text, Predicate drop);

// Offset of `what` at or behind `from`, or npos, in linear time whatever the texts.
size_t find_text(std::string_view text, std::string_view what, size_t from = 0);

}  // namespace colibri::chat

#include "runtime/base/utf8.h"

namespace colibri::chat {

template <typename Predicate>
size_t leading(std::string_view text, Predicate drop) {
  size_t at = 0;
  while (at < text.size()) {
    const utf8::Character c = utf8::decode(text, at);
    if (c.size == 0 || !drop(c.code_point)) break;
    at += c.size;
  }
  return at;
}

template <typename Predicate>
size_t trailing(std::string_view text, Predicate drop) {
  size_t end = text.size();
  while (end > 0) {
    size_t start = end - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    const utf8::Character c = utf8::decode(text, start);
    if (c.size == 0 || !drop(c.code_point)) break;
    end = start;
  }
  return text.size() - end;
}

}  // namespace colibri::chat
