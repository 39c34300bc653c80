// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <vector>

#include "plugins/tokenizers/common/unicode_additions.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

struct Range {
  char32_t first, last;
};

bool contains(const Range* begin, const Range* end, char32_t c) {
  const Range* range = std::lower_bound(
      begin, end, c, [](const Range& r, char32_t value) { return r.last < value; });
  return range != end && range->first <= c;
}

// Punctuation that the reference does not take for such: its table of category P is of Unicode 8.
constexpr Range kYoungPunctuation[] = {
    {0x061D, 0x061D},   {0x09FD, 0x09FD},   {0x0A76, 0x0A76},   {0x0C77, 0x0C77},
    {0x0C84, 0x0C84},   {0x1B7D, 0x1B7E},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},
    {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x1144B, 0x1144F},
    {0x1145A, 0x1145B}, {0x1145D, 0x1145D}, {0x11660, 0x1166C}, {0x116B9, 0x116B9},
    {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2}, {0x11A3F, 0x11A46},
    {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C41, 0x11C45},
    {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8}, {0x11F43, 0x11F4F}, {0x11FFF, 0x11FFF},
    {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x1E95E, 0x1E95F},
};
constexpr char32_t kFormerPunctuation[] = {0x111C9, 0x166D};  // P in Unicode 8, not later

// Letters of category So: property Other_Alphabetic.
constexpr Range kCircledLetters[] = {
    {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

constexpr int kOptions = UTF8PROC_STABLE | UTF8PROC_COMPOSE;

// No character below U+0300 changes in NFC, and none is a combining mark.
bool is_trivially_nfc(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

void append_decomposed(char32_t c, std::vector<utf8proc_int32_t>& out) {
  utf8proc_int32_t parts[4];  // the longest canonical decomposition has four characters
  int boundary = 0;
  const utf8proc_ssize_t n =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, std::size(parts),
                              static_cast<utf8proc_option_t>(kOptions), &boundary);
  out.insert(out.end(), parts, parts + n);
}

// Puts each run of combining marks into the order of their classes (stable). utf8proc_decompose
// does this in quadratic time, which a long run of marks would exploit.
void order_marks(std::vector<utf8proc_int32_t>& characters) {
  const auto mark_class = [](utf8proc_int32_t c) {
    return utf8proc_get_property(c)->combining_class;
  };
  for (auto begin = characters.begin(); begin != characters.end();) {
    if (mark_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, characters.end(),
                                  [&](utf8proc_int32_t c) { return mark_class(c) == 0; });
    std::stable_sort(begin, end, [&](utf8proc_int32_t a, utf8proc_int32_t b) {
      return mark_class(a) < mark_class(b);
    });
    begin = end;
  }
}

}  // namespace

bool is_numeric(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL ||
         kind == UTF8PROC_CATEGORY_NO || added_category(c).starts_with('N');
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  if (std::find(std::begin(kFormerPunctuation), std::end(kFormerPunctuation), c) !=
      std::end(kFormerPunctuation)) {
    return true;
  }
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO &&
         !contains(std::begin(kYoungPunctuation), std::end(kYoungPunctuation), c);
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  const utf8proc_category_t kind = category(c);
  return c == 0x85 || kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL ||
         kind == UTF8PROC_CATEGORY_ZP;
}

bool is_word(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  const std::string_view added = added_category(c);
  return added.starts_with('L') || added.starts_with('M') || added == "Nd" || added == "Pc" ||
         c == 0x200C || c == 0x200D ||
         contains(std::begin(kCircledLetters), std::end(kCircledLetters), c);
}

std::string nfc(std::string_view text) {
  if (is_trivially_nfc(text)) return std::string(text);
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const utf8::Character c = utf8::decode(text, at);
    append_decomposed(c.code_point, characters);
    at += c.size;
  }
  order_marks(characters);
  const utf8proc_ssize_t n =
      utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(characters.size()),
                               static_cast<utf8proc_option_t>(kOptions));
  std::string result;
  result.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t size = utf8proc_encode_char(characters[static_cast<size_t>(i)], bytes);
    result.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
  return result;
}

}  // namespace colibri::tokenizers
