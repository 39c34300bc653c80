// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/pattern.h"

#include <algorithm>
#include <cctype>

#include "plugins/tokenizers/common/pattern_reader.h"
#include "plugins/tokenizers/common/pattern_set.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

class Translator {
 public:
  explicit Translator(std::string_view pattern) : in_(pattern) {}

  Result<std::string> translate() {
    if (in_.take("(?i)")) {
      out_ = "(?i)";
      in_.caseless = true;
    }
    const size_t begin = out_.size();
    bool may_be_empty = false;  // of no interest
    COLIBRI_TRY(alternatives(0, may_be_empty));
    if (in_.more()) return in_.refuse("a ) without (");
    if (!run_.empty() && !branches_) out_.insert(begin, "(?:(?<!" + run_ + ")|\\G)");
    return out_;
  }

 private:
  // may_be_empty: whether an alternative can match nothing.
  Status alternatives(int depth, bool& may_be_empty) {
    if (depth > kMaxPatternDepth) return in_.refuse("groups deeper than 32 levels");
    may_be_empty = false;
    for (;;) {
      previous_letter_ = 0;
      bool empty = true;
      while (in_.more() && in_.peek() != ')' && in_.peek() != '|') {
        bool part_empty = false;
        COLIBRI_TRY(quantified(depth, part_empty));
        empty = empty && part_empty;
      }
      may_be_empty = may_be_empty || empty;
      if (!in_.take("|")) return {};
      branches_ = branches_ || depth == 0;
      out_ += '|';
    }
  }

  Status quantified(int depth, bool& may_be_empty) {
    const bool first = in_.offset() == 0;
    const bool set = in_.at("[") || in_.at("\\");
    const size_t begin = out_.size();
    bool repeatable = true;
    may_be_empty = false;
    COLIBRI_TRY(atom(depth, repeatable, may_be_empty));
    bool repeated = false;
    while (in_.more()) {
      std::string quantifier;
      COLIBRI_TRY(read_quantifier(quantifier));
      if (quantifier.empty()) break;
      if (first && set && !repeated && quantifier[0] != '?' && quantifier[0] != '{' && in_.more()) {
        run_ = out_.substr(begin);
      }
      if (!repeatable) return in_.refuse("a repeated assertion");
      if (may_be_empty && quantifier[0] != '?') {
        return in_.refuse("a repetition of what may be empty");  // the two disagree on when to stop
      }
      if (repeated) {  // x{2}+ repeats a repetition, it is not possessive
        out_.insert(begin, "(?:");
        out_ += ')';
      }
      out_ += quantifier;
      may_be_empty = may_be_empty || quantifier[0] == '?' || quantifier[0] == '*' ||
                     quantifier.starts_with("{0");
      repeated = true;
      previous_letter_ = 0;
    }
    return {};
  }

  // ?, *, + with a suffix ? (lazy) or + (possessive); {n}, {n,}, {,m}, {n,m} with a suffix ?
  // (lazy). Nothing if no quantifier stands here.
  Status read_quantifier(std::string& quantifier) {
    const char c = in_.peek();
    if (c == '?' || c == '*' || c == '+') {
      quantifier = c;
      in_.next();
      if (in_.more() && (in_.peek() == '?' || in_.peek() == '+')) quantifier += in_.next();
      return {};
    }
    if (c != '{') return {};
    in_.next();
    std::string low;
    std::string high;
    const auto digits = [&](std::string& to) {
      while (in_.more() && std::isdigit(static_cast<unsigned char>(in_.peek()))) to += in_.next();
    };
    digits(low);
    const bool comma = in_.take(",");
    if (comma) digits(high);
    if (!in_.take("}") || (low.empty() && high.empty()))
      return in_.refuse("a { that is no quantifier");
    if (low.size() > 4 || high.size() > 4) return in_.refuse("a repeat count above 9999");
    quantifier = "{" + (low.empty() ? "0" : low) + (comma ? "," + high : "") + "}";
    if (in_.at("?")) {
      if (!comma) return in_.refuse("a lazy {n}");
      quantifier += in_.next();
    }
    return {};
  }

  Status atom(int depth, bool& repeatable, bool& may_be_empty) {
    const char c = in_.peek();
    if (c == '(') return group(depth, repeatable, may_be_empty);
    if (c == '[') {
      previous_letter_ = 0;
      std::string text;
      COLIBRI_TRY(read_set(in_, text));
      out_ += text;
      return {};
    }
    if (c == '\\') return escape_atom(repeatable, may_be_empty);
    if (c == '^' || c == '$') {
      repeatable = false;
      may_be_empty = true;
      out_ += c;
      in_.next();
      return {};
    }
    if (c == '.') {
      out_ += c;
      in_.next();
      previous_letter_ = 0;
      return {};
    }
    if (c == '?' || c == '*' || c == '+' || c == '{')
      return in_.refuse("a quantifier with nothing before it");
    const PatternReader::Character character = in_.take_character();
    COLIBRI_TRY(check_caseless(character.code_point));
    out_ += literal(character.code_point, character.utf8);
    return {};
  }

  // Without regard to case Oniguruma also lets one character match several (U+00DF matches "ss");
  // PCRE2 does not. So only ASCII is taken there, and no pair that such a character could match.
  Status check_caseless(char32_t c) {
    const char32_t before = previous_letter_;
    previous_letter_ = c < 0x80 ? static_cast<char32_t>(std::tolower(static_cast<int>(c))) : 0;
    if (!in_.caseless) return {};
    if (c >= 0x80) return in_.refuse("a character beyond ASCII under (?i)");
    const char pair[] = {static_cast<char>(before), static_cast<char>(previous_letter_), 0};
    for (const std::string_view folding : {"ss", "st", "ff", "fi", "fl"}) {
      if (pair == folding)
        return in_.refuse("the letters \"" + std::string(folding) + "\" under (?i)");
    }
    return {};
  }

  Status group(int depth, bool& repeatable, bool& may_be_empty) {
    constexpr std::string_view kAssertions[] = {"(?=", "(?!", "(?<=", "(?<!"};
    const bool caseless_outside = in_.caseless;
    std::string opening = "(?:";
    if (in_.take("(?i:")) {
      opening = "(?i:";
      in_.caseless = true;
    } else if (in_.take("(?-i:")) {
      opening = "(?-i:";
      in_.caseless = false;
    } else if (in_.take("(?>")) {
      opening = "(?>";
    } else if (const auto* assertion = std::find_if(std::begin(kAssertions), std::end(kAssertions),
                                                    [&](auto text) { return in_.at(text); });
               assertion != std::end(kAssertions)) {
      opening = *assertion;
      repeatable = false;
      in_.take(opening);
    } else if (!in_.take("(?:")) {
      if (in_.at("(?") || in_.at("(*")) return in_.refuse("a special group");
      in_.next();
    }
    out_ += opening;
    COLIBRI_TRY(alternatives(depth + 1, may_be_empty));
    if (!in_.take(")")) return in_.refuse("a ( without )");
    out_ += ')';
    may_be_empty = may_be_empty || !repeatable;
    in_.caseless = caseless_outside;
    previous_letter_ = 0;
    return {};
  }

  Status escape_atom(bool& repeatable, bool& may_be_empty) {
    for (const std::string_view anchor : {"\\A", "\\z", "\\Z"}) {
      if (in_.take(anchor)) {
        repeatable = false;
        may_be_empty = true;
        out_ += anchor;
        return {};
      }
    }
    Member member;
    COLIBRI_TRY(read_escape(in_, false, member));
    if (member.single) {
      COLIBRI_TRY(check_caseless(member.character));
      out_ += member.inside;
    } else {
      previous_letter_ = 0;
      out_ += member.group.empty() ? "[" + member.inside + "]" : member.group;
    }
    return {};
  }

  PatternReader in_;
  std::string out_;
  // A pattern that begins with a run of one set, as in \s+$, and does not match at one place, does
  // not match inside that run either. Saying so keeps the search linear. Empty unless the pattern
  // is of this form.
  std::string run_;
  bool branches_ = false;         // a | outside of groups
  char32_t previous_letter_ = 0;  // the literal just before, in lower case; 0 = something else
};

}  // namespace

Result<std::string> pcre2_pattern(std::string_view oniguruma) {
  if (!utf8::valid(oniguruma)) return unsupported("the pattern is not UTF-8");
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

}  // namespace colibri::tokenizers
