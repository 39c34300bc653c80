// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/pattern_set.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <vector>

#include "plugins/tokenizers/common/unicode_additions.h"

namespace colibri::tokenizers {
namespace {

// General categories, by the same names in both. (C and Cn are not here: they change with every
// Unicode.) Any other name is
// taken for a script; PCRE2 by itself would read that as Script_Extensions.
constexpr std::string_view kCategories[] = {"Cc", "Cf", "Co", "Cs", "L",  "Ll", "Lm", "Lo", "Lt",
                                            "Lu", "M",  "Mc", "Me", "Mn", "N",  "Nd", "Nl", "No",
                                            "P",  "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S",
                                            "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs"};

// A category as the inside of a PCRE2 set.
std::string category(std::string_view name) {
  return "\\p{" + std::string(name) + "}" + added_ranges(name);
}

// Oniguruma's \w, likewise. Outside of sets it takes in superscripts and fractions of Latin-1.
std::string word(bool inside_set) {
  std::string text =
      R"(\p{Alphabetic})" + category("L") + category("M") + category("Nd") + category("Pc");
  if (!inside_set) text += R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
  return text;
}

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

std::string code_point(char32_t c) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "\\x{%X}", static_cast<unsigned>(c));
  return text.data();
}

Member single(char32_t c, std::string_view utf8) {
  return {literal(c, utf8), "", c, true};
}

Status read_hex(PatternReader& in, char kind, Member& member) {
  const bool braces = kind == 'x' && in.take("{");
  const size_t most = braces ? 8 : kind == 'x' ? 2 : 4;
  const size_t least = braces ? 1 : most;
  char32_t value = 0;
  size_t digits = 0;
  while (in.more() && digits < most && std::isxdigit(static_cast<unsigned char>(in.peek()))) {
    const char c = in.next();
    value = value * 16 + static_cast<char32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    ++digits;
  }
  if (digits < least || (braces && !in.take("}")))
    return in.refuse("a hexadecimal escape cut short");
  // \xHH is a byte to Oniguruma: a character only if it is ASCII.
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ||
      (kind == 'x' && !braces && value >= 0x80)) {
    return in.refuse("a hexadecimal escape of no character");
  }
  member = {code_point(value), "", value, true};
  return {};
}

// Behind \p or \P.
Status read_property(PatternReader& in, bool negated, Member& member) {
  if (!in.take("{")) return in.refuse("a property without braces");
  if (in.take("^")) negated = !negated;
  if (in.caseless) return in.refuse("a property under (?i)");
  const std::string name(in.take_until('}'));
  if (name.empty()) return in.refuse("a property without a name");
  for (const char c : name) {
    if (!is_letter_or_digit(c) && c != '_') return in.refuse("an unknown property");
  }
  const bool known =
      std::find(std::begin(kCategories), std::end(kCategories), name) != std::end(kCategories);
  if (known && negated) {
    member.group = "[^" + category(name) + "]";
  } else if (known) {
    member.inside = category(name);
  } else {
    member.inside = std::string(negated ? "\\P{" : "\\p{") + "sc:" + name + "}";
  }
  return {};
}

Status read_set_character(PatternReader& in, Member& member) {
  if (in.at("\\")) {
    COLIBRI_TRY(read_escape(in, true, member));
  } else {
    const PatternReader::Character c = in.take_character();
    member = single(c.code_point, c.utf8);
  }
  if (in.caseless && member.single && member.character >= 0x80) {
    return in.refuse("a character beyond ASCII under (?i)");
  }
  return {};
}

// A character, a class, or a range.
Status read_set_member(PatternReader& in, bool first, Member& member) {
  if (in.take("-")) {
    if (!first && !in.at("]")) return in.refuse("a - in the middle of a set");
    member = single('-', "-");
    return {};
  }
  COLIBRI_TRY(read_set_character(in, member));
  if (!in.at("-") || in.at("-]")) return {};
  if (!member.single) return in.refuse("a range that begins with a class");
  in.take("-");
  if (!in.more()) return in.refuse("a set without ]");
  if (in.at("[") || in.at("-") || in.at("&&")) return in.refuse("a range without an end");
  Member end;
  COLIBRI_TRY(read_set_character(in, end));
  if (!end.single || end.character < member.character) return in.refuse("a range without an end");
  member = {member.inside + "-" + end.inside, "", 0, false};
  return {};
}

// The members between two &&.
struct Union {
  std::string inside;  // of one [...]
  std::string groups;  // further alternatives, each behind a |

  bool empty() const { return inside.empty() && groups.empty(); }
  std::string text() const {
    if (groups.empty()) return "[" + inside + "]";
    return "(?:" + (inside.empty() ? groups.substr(1) : "[" + inside + "]" + groups) + ")";
  }
};

// Without nested sets and && the set stays what it is; with them it becomes a group with
// lookaheads.
std::string text_of_set(const std::vector<Union>& sides) {
  std::string all = "(?:";
  for (size_t i = 0; i + 1 < sides.size(); ++i) all += "(?=" + sides[i].text() + ")";
  return all + sides.back().text() + ")";
}

Status read_set(PatternReader& in, int depth, std::string& text) {
  if (depth > kMaxPatternDepth) return in.refuse("sets deeper than 32 levels");
  in.take("[");
  const bool negated = in.take("^");
  if (in.at("]")) return in.refuse("a set that begins with ]");
  std::vector<Union> sides(1);
  while (!in.at("]")) {
    if (!in.more()) return in.refuse("a set without ]");
    if (in.at("[:")) return in.refuse("a POSIX class");
    if (in.caseless && (in.at("[") || in.at("&&"))) return in.refuse("a nested set under (?i)");
    if (in.take("&&")) {
      if (sides.back().empty()) return in.refuse("an empty side of &&");
      sides.emplace_back();
    } else if (in.at("[")) {
      std::string nested;
      COLIBRI_TRY(read_set(in, depth + 1, nested));
      sides.back().groups += "|" + nested;
    } else {
      Member member;
      COLIBRI_TRY(read_set_member(in, sides.back().empty(), member));
      sides.back().inside += member.inside;
      if (!member.group.empty()) sides.back().groups += "|" + member.group;
    }
  }
  if (sides.back().empty()) return in.refuse("an empty side of &&");
  in.take("]");
  const bool simple = sides.size() == 1 && sides[0].groups.empty();
  if (negated && !simple) return in.refuse("a negated set with a negated class, sets or && in it");
  text = simple ? (negated ? "[^" : "[") + sides[0].inside + "]" : text_of_set(sides);
  return {};
}

}  // namespace

std::string literal(char32_t c, std::string_view utf8) {
  if (c < 0x20 || c == 0x7F) return code_point(c);
  if (c < 0x80 && !is_letter_or_digit(static_cast<char>(c))) return std::string("\\").append(utf8);
  return std::string(utf8);
}

Status read_set(PatternReader& in, std::string& text) {
  return read_set(in, 0, text);
}

Status read_escape(PatternReader& in, bool inside_set, Member& member) {
  in.take("\\");
  if (!in.more()) return in.refuse("a backslash at its end");
  const PatternReader::Character character = in.take_character();
  if (character.code_point >= 0x80 || !is_letter_or_digit(character.utf8[0])) {
    member = single(character.code_point, character.utf8);
    return {};
  }
  switch (const char c = character.utf8[0]) {
    case 't':
      member = single('\t', "");
      return {};
    case 'n':
      member = single('\n', "");
      return {};
    case 'v':
      member = single('\v', "");
      return {};
    case 'f':
      member = single('\f', "");
      return {};
    case 'r':
      member = single('\r', "");
      return {};
    case 's':
      member.inside = "\\p{White_Space}";
      return {};
    case 'S':
      member.inside = "\\P{White_Space}";
      return {};
    case 'd':
      member.inside = category("Nd");
      return {};
    case 'D':
      member.group = "[^" + category("Nd") + "]";
      return {};
    case 'w':
      member.inside = word(inside_set);
      return {};
    case 'W':
      member.group = "[^" + word(inside_set) + "]";
      return {};
    case 'h':
      member.inside = "0-9A-Fa-f";
      return {};
    case 'x':
    case 'u':
      return read_hex(in, c, member);
    case 'p':
    case 'P':
      return read_property(in, c == 'P', member);
    default:
      return in.refuse("an unknown escape");
  }
}

}  // namespace colibri::tokenizers
