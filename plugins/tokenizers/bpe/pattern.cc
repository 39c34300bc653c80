// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/bpe/pattern.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <vector>

#include "runtime/base/utf8.h"

namespace colibri::bpe {
namespace {

constexpr int kMaxDepth = 32;

// What Oniguruma's classes mean, as the inside of a PCRE2 set. (Below U+0100 its \w has its own
// mind: it takes in superscripts and fractions.)
constexpr char kWord[] = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
constexpr char kSpace[] = R"(\p{White_Space})";
constexpr char kNotSpace[] = R"(\P{White_Space})";
constexpr char kHexDigit[] = "0-9A-Fa-f";

// General categories, by the same names in both. Any other name is taken for a binary property of
// this list, or else for a script; PCRE2 by itself would read a script's name as Script_Extensions.
constexpr std::string_view kCategories[] = {
    "C",  "Cc", "Cf", "Cn", "Co", "Cs", "L",  "Ll", "Lm", "Lo", "Lt", "Lu",         "M",
    "Mc", "Me", "Mn", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Pe", "Pf",         "Pi",
    "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs", "Alphabetic", "White_Space"};

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

std::string code_point(char32_t c) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "\\x{%X}", static_cast<unsigned>(c));
  return text.data();
}

// A character as PCRE2 reads it literally, inside and outside of sets.
std::string literal(char32_t c, std::string_view utf8) {
  if (c < 0x20 || c == 0x7F) return code_point(c);
  if (c < 0x80 && !is_letter_or_digit(static_cast<char>(c))) return std::string("\\").append(utf8);
  return std::string(utf8);
}

// One member of a set: text for the inside of [...], or, for what cannot stand there, a group for
// one character.
struct Member {
  std::string inside;
  std::string group;
  char32_t character = 0;  // if it is a single character, so that a range can begin with it
  bool single = false;
};

Member single(char32_t c, std::string_view utf8) {
  return {literal(c, utf8), "", c, true};
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : in_(pattern) {}

  Result<std::string> translate() {
    if (!utf8::valid(in_)) return refuse("text that is not UTF-8");
    if (take("(?i)")) {
      out_ = "(?i)";
      caseless_ = true;
    }
    const size_t begin = out_.size();
    COLIBRI_TRY(alternatives(0));
    if (at_ < in_.size()) return refuse("a ) without (");
    if (!run_.empty() && !branches_) out_.insert(begin, "(?:(?<!" + run_ + ")|\\G)");
    return out_;
  }

 private:
  Status refuse(const std::string& what) const {
    return unsupported("the pattern " + utf8::printable(in_) + " has " + what + " at byte " +
                       std::to_string(at_) + ", which this plugin cannot match exactly");
  }

  bool more() const { return at_ < in_.size(); }
  char peek() const { return in_[at_]; }
  bool at(std::string_view text) const { return in_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    at_ += text.size();
    return true;
  }

  Status alternatives(int depth) {
    if (depth > kMaxDepth) return refuse("groups deeper than 32 levels");
    previous_letter_ = 0;
    while (more() && peek() != ')') {
      if (take("|")) {
        branches_ = branches_ || depth == 0;
        out_ += '|';
        previous_letter_ = 0;
        continue;
      }
      COLIBRI_TRY(quantified(depth));
    }
    return {};
  }

  Status quantified(int depth) {
    const bool first = at_ == 0;
    const bool set = at("[") || at("\\");
    const size_t begin = out_.size();
    bool repeatable = true;
    COLIBRI_TRY(atom(depth, repeatable));
    bool repeated = false;
    while (more()) {
      std::string quantifier;
      COLIBRI_TRY(read_quantifier(quantifier));
      if (quantifier.empty()) break;
      if (first && set && !repeated && quantifier[0] != '?' && quantifier[0] != '{' && more()) {
        run_ = out_.substr(begin);
      }
      if (!repeatable) return refuse("a repeated assertion");
      if (repeated) {  // x{2}+ repeats a repetition, it is not possessive
        out_.insert(begin, "(?:");
        out_ += ')';
      }
      out_ += quantifier;
      repeated = true;
      previous_letter_ = 0;
    }
    return {};
  }

  // ?, *, + with a suffix ? (lazy) or + (possessive); {n}, {n,}, {,m}, {n,m} with a suffix ?
  // (lazy). Nothing if no quantifier stands here.
  Status read_quantifier(std::string& quantifier) {
    const char c = peek();
    if (c == '?' || c == '*' || c == '+') {
      quantifier = c;
      ++at_;
      if (more() && (peek() == '?' || peek() == '+')) quantifier += in_[at_++];
      return {};
    }
    if (c != '{') return {};
    ++at_;
    std::string low;
    std::string high;
    const auto digits = [&](std::string& to) {
      while (more() && std::isdigit(static_cast<unsigned char>(peek()))) to += in_[at_++];
    };
    digits(low);
    const bool comma = take(",");
    if (comma) digits(high);
    if (!take("}") || (low.empty() && high.empty())) return refuse("a { that is no quantifier");
    if (low.size() > 4 || high.size() > 4) return refuse("a repeat count above 9999");
    quantifier = "{" + (low.empty() ? "0" : low) + (comma ? "," + high : "") + "}";
    if (at("?")) {
      if (!comma) return refuse("a lazy {n}");
      quantifier += in_[at_++];
    }
    return {};
  }

  Status atom(int depth, bool& repeatable) {
    const char c = peek();
    if (c == '(') return group(depth, repeatable);
    if (c == '[') return set_atom();
    if (c == '\\') return escape_atom(repeatable);
    if (c == '^' || c == '$') {
      repeatable = false;
      out_ += c;
      ++at_;
      return {};
    }
    if (c == '.') {
      out_ += c;
      ++at_;
      previous_letter_ = 0;
      return {};
    }
    if (c == '?' || c == '*' || c == '+' || c == '{')
      return refuse("a quantifier with nothing before it");
    const utf8::Character character = utf8::decode(in_, at_);
    COLIBRI_TRY(check_caseless(character.code_point));
    out_ += literal(character.code_point, in_.substr(at_, character.size));
    at_ += character.size;
    return {};
  }

  // Without regard to case Oniguruma also lets one character match several (U+00DF matches "ss");
  // PCRE2 does not. So only ASCII is taken there, and no pair that such a character could match.
  Status check_caseless(char32_t c) {
    const char32_t before = previous_letter_;
    previous_letter_ = c < 0x80 ? static_cast<char32_t>(std::tolower(static_cast<int>(c))) : 0;
    if (!caseless_) return {};
    if (c >= 0x80) return refuse("a character beyond ASCII under (?i)");
    const char pair[] = {static_cast<char>(before), static_cast<char>(previous_letter_), 0};
    for (const std::string_view folding : {"ss", "st", "ff", "fi", "fl"}) {
      if (pair == folding) return refuse("the letters \"" + std::string(folding) + "\" under (?i)");
    }
    return {};
  }

  Status group(int depth, bool& repeatable) {
    constexpr std::string_view kAssertions[] = {"(?=", "(?!", "(?<=", "(?<!"};
    const bool caseless_before = caseless_;
    std::string opening = "(?:";
    if (take("(?i:")) {
      opening = "(?i:";
      caseless_ = true;
    } else if (take("(?-i:")) {
      opening = "(?-i:";
      caseless_ = false;
    } else if (take("(?>")) {
      opening = "(?>";
    } else if (const auto* assertion = std::find_if(std::begin(kAssertions), std::end(kAssertions),
                                                    [&](auto text) { return at(text); });
               assertion != std::end(kAssertions)) {
      opening = *assertion;
      repeatable = false;
      at_ += opening.size();
    } else if (!take("(?:")) {
      if (at("(?") || at("(*")) return refuse("a special group");
      ++at_;
    }
    out_ += opening;
    COLIBRI_TRY(alternatives(depth + 1));
    if (!take(")")) return refuse("a ( without )");
    out_ += ')';
    caseless_ = caseless_before;
    previous_letter_ = 0;
    return {};
  }

  Status escape_atom(bool& repeatable) {
    for (const std::string_view anchor : {"\\A", "\\z", "\\Z"}) {
      if (take(anchor)) {
        repeatable = false;
        out_ += anchor;
        return {};
      }
    }
    Member member;
    COLIBRI_TRY(escape(member));
    if (member.single) {
      COLIBRI_TRY(check_caseless(member.character));
      out_ += member.inside;
    } else {
      previous_letter_ = 0;
      out_ += member.group.empty() ? "[" + member.inside + "]" : member.group;
    }
    return {};
  }

  // A backslash and what it means, inside and outside of sets.
  Status escape(Member& member) {
    ++at_;
    if (!more()) return refuse("a backslash at its end");
    const utf8::Character character = utf8::decode(in_, at_);
    const std::string_view text = in_.substr(at_, character.size);
    if (character.code_point >= 0x80 || !is_letter_or_digit(text[0])) {
      at_ += character.size;
      member = single(character.code_point, text);
      return {};
    }
    const char c = text[0];
    ++at_;
    switch (c) {
      case 't':
        member = single('\t', "\t");
        return {};
      case 'n':
        member = single('\n', "\n");
        return {};
      case 'v':
        member = single('\v', "\v");
        return {};
      case 'f':
        member = single('\f', "\f");
        return {};
      case 'r':
        member = single('\r', "\r");
        return {};
      case 's':
        member.inside = kSpace;
        return {};
      case 'S':
        member.inside = kNotSpace;
        return {};
      case 'd':
        member.inside = "\\p{Nd}";
        return {};
      case 'D':
        member.inside = "\\P{Nd}";
        return {};
      case 'w':
        member.inside = kWord;
        return {};
      case 'W':
        member.group = std::string("[^") + kWord + "]";
        return {};
      case 'h':
        member.inside = kHexDigit;
        return {};
      case 'x':
      case 'u':
        return hex_escape(c, member);
      case 'p':
      case 'P':
        return property(c == 'P', member);
      default:
        --at_;
        return refuse("an escape");
    }
  }

  Status hex_escape(char kind, Member& member) {
    const bool braces = kind == 'x' && take("{");
    const size_t most = braces ? 8 : kind == 'x' ? 2 : 4;
    const size_t least = braces ? 1 : most;
    char32_t value = 0;
    size_t digits = 0;
    while (more() && digits < most && std::isxdigit(static_cast<unsigned char>(peek()))) {
      const char c = peek();
      value = value * 16 + static_cast<char32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
      ++at_;
      ++digits;
    }
    if (digits < least || (braces && !take("}"))) return refuse("a hexadecimal escape cut short");
    // \xHH is a byte to Oniguruma: a character only if it is ASCII.
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ||
        (kind == 'x' && !braces && value >= 0x80)) {
      return refuse("a hexadecimal escape of no character");
    }
    member = {code_point(value), "", value, true};
    return {};
  }

  Status property(bool negated, Member& member) {
    if (!take("{")) return refuse("a property without braces");
    if (take("^")) negated = !negated;
    const size_t end = in_.find('}', at_);
    if (end == std::string_view::npos || end == at_) return refuse("a property without a name");
    if (caseless_) return refuse("a property under (?i)");
    const std::string name(in_.substr(at_, end - at_));
    for (const char c : name) {
      if (!is_letter_or_digit(c) && c != '_') return refuse("a property");
    }
    const bool known =
        std::find(std::begin(kCategories), std::end(kCategories), name) != std::end(kCategories);
    at_ = end + 1;
    member.inside = std::string(negated ? "\\P{" : "\\p{") + (known ? "" : "sc:") + name + "}";
    return {};
  }

  Status set_atom() {
    previous_letter_ = 0;
    std::string text;
    COLIBRI_TRY(set(0, text));
    out_ += text;
    return {};
  }

  // [...]: members, ranges, sets within it, and && between unions.
  Status set(int depth, std::string& text) {
    if (depth > kMaxDepth) return refuse("sets deeper than 32 levels");
    ++at_;
    const bool negated = take("^");
    if (at("]")) return refuse("a set that begins with ]");
    std::vector<std::string> unions;  // all but the last one
    std::string inside;
    std::string groups;
    const auto close_union = [&] {
      std::string result = inside.empty() ? "" : "[" + inside + "]";
      if (!groups.empty()) {
        if (inside.empty()) groups.erase(0, 1);
        result = "(?:" + result + groups + ")";
      }
      inside.clear();
      groups.clear();
      return result;
    };
    while (!at("]")) {
      if (!more()) return refuse("a set without ]");
      if (take("&&")) {
        if (inside.empty() && groups.empty()) return refuse("an empty side of &&");
        unions.push_back(close_union());
        continue;
      }
      if (at("[:")) return refuse("a POSIX class");
      if (at("[")) {
        std::string nested;
        COLIBRI_TRY(set(depth + 1, nested));
        groups += "|" + nested;
        continue;
      }
      Member member;
      COLIBRI_TRY(set_member(inside.empty() && groups.empty(), member));
      inside += member.inside;
      if (!member.group.empty()) groups += "|" + member.group;
    }
    ++at_;
    if (inside.empty() && groups.empty()) return refuse("an empty side of &&");
    if (unions.empty() && groups.empty()) {
      text = (negated ? "[^" : "[") + inside + "]";
      return {};
    }
    std::string all = "(?:";
    const std::string last = close_union();
    for (const std::string& side : unions) all += "(?=" + side + ")";
    all += last + ")";
    text = negated ? "(?:(?!" + all + ")[\\x{0}-\\x{10FFFF}])" : all;
    return {};
  }

  Status set_member(bool first, Member& member) {
    if (at("-")) {
      ++at_;
      if (!first && !at("]")) return refuse("a - in the middle of a set");
      member = single('-', "-");
      return {};
    }
    COLIBRI_TRY(set_character(member));
    if (!at("-") || at("-]")) return {};
    if (!member.single) return refuse("a range that begins with a class");
    ++at_;
    if (!more()) return refuse("a set without ]");
    if (at("[") || at("-") || at("&&")) return refuse("a range without an end");
    Member end;
    COLIBRI_TRY(set_character(end));
    if (!end.single || end.character < member.character) return refuse("a range without an end");
    member = {member.inside + "-" + end.inside, "", 0, false};
    return {};
  }

  Status set_character(Member& member) {
    if (at("\\")) {
      COLIBRI_TRY(escape(member));
    } else {
      const utf8::Character character = utf8::decode(in_, at_);
      member = single(character.code_point, in_.substr(at_, character.size));
      at_ += character.size;
    }
    if (caseless_ && member.single && member.character >= 0x80) {
      return refuse("a character beyond ASCII under (?i)");
    }
    return {};
  }

  std::string_view in_;
  size_t at_ = 0;
  std::string out_;
  bool caseless_ = false;
  // A pattern that begins with a run of one set, as in \s+$, and does not match at one place, does
  // not match inside that run either. Saying so keeps the search linear. Empty unless the pattern
  // is of this form.
  std::string run_;
  bool branches_ = false;         // a | outside of groups
  char32_t previous_letter_ = 0;  // the literal just before, in lower case; 0 = something else
};

}  // namespace

Result<std::string> pcre2_pattern(std::string_view oniguruma) {
  return Translator(oniguruma).translate();
}

std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (size_t at = 0; at < text.size();) {
    const utf8::Character c = utf8::decode(text, at);
    pattern += literal(c.code_point, text.substr(at, c.size));
    at += c.size;
  }
  return pattern;
}

}  // namespace colibri::bpe
