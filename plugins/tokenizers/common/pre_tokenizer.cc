// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/pre_tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plugins/tokenizers/common/ascii_matcher.h"
#include "plugins/tokenizers/common/byte_level.h"
#include "plugins/tokenizers/common/metaspace.h"
#include "plugins/tokenizers/common/pattern.h"
#include "plugins/tokenizers/common/unicode.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr int kMaxDepth = 8;

// The pattern of GPT-2, which ByteLevel applies by itself.
constexpr char kByteLevelPattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Splits at what a pattern matches, or, inverted, at what it does not match.
class PatternSplit : public PreTokenizer {
 public:
  PatternSplit(Regex regex, std::optional<AsciiMatcher> ascii, Behavior behavior, bool invert)
      : regex_(std::move(regex)), ascii_(std::move(ascii)), behavior_(behavior), invert_(invert) {}

  Status apply(Pieces& pieces, SplitMemory& memory) const override {
    memory.ranges.clear();
    for (const Range range : pieces.ranges) {
      COLIBRI_TRY(find_parts(pieces.at(range), range.begin, memory));
      append_pieces(memory.parts, behavior_, memory.ranges);
    }
    std::swap(pieces.ranges, memory.ranges);
    return {};
  }

 private:
  Status find_parts(std::string_view text, size_t offset, SplitMemory& memory) const {
    memory.parts.clear();
    const auto add = [&](size_t begin, size_t end, bool match) {
      memory.parts.push_back({{offset + begin, offset + end}, match != invert_});
    };
    size_t end = 0;  // of the last match
    bool any = false;
    for (size_t from = 0; from <= text.size();) {
      COLIBRI_ASSIGN(const Match match, find(text, from, memory.match));
      if (match.begin == std::string_view::npos) break;
      if (match.begin == match.end && any && match.end == end) {
        // Empty and right behind the last match: look again one character on.
        if (from == text.size()) break;
        from += utf8::decode(text, from).size;
        continue;
      }
      if (end != match.begin) add(end, match.begin, false);
      add(match.begin, match.end, true);
      end = from = match.end;
      any = true;
    }
    if (end != text.size()) add(end, text.size(), false);
    return {};
  }

  Result<Match> find(std::string_view text, size_t from, MatchMemory& memory) const {
    if (ascii_) {
      const AsciiMatcher::Answer answer = ascii_->find(text, from);
      if (answer.outcome == AsciiMatcher::Outcome::kFound) return Match{answer.begin, answer.end};
      if (answer.outcome == AsciiMatcher::Outcome::kNone) return Match{kNowhere, kNowhere};
      from = answer.begin;
    }
    return regex_.find(text, from, memory);
  }

  static constexpr size_t kNowhere = std::string_view::npos;
  Regex regex_;
  std::optional<AsciiMatcher> ascii_;  // the same pattern
  Behavior behavior_;
  bool invert_;
};

// Splits at single characters of a class.
class CharacterSplit : public PreTokenizer {
 public:
  CharacterSplit(bool (*is_delimiter)(char32_t), Behavior behavior)
      : is_delimiter_(is_delimiter), behavior_(behavior) {}

  Status apply(Pieces& pieces, SplitMemory& memory) const override {
    memory.ranges.clear();
    for (const Range range : pieces.ranges) {
      memory.parts.clear();
      size_t end = range.begin;
      for (size_t at = range.begin; at < range.end;) {
        const utf8::Character c = utf8::decode(pieces.text, at);
        if (is_delimiter_(c.code_point)) {
          if (end < at) memory.parts.push_back({{end, at}, false});
          end = at + c.size;
          memory.parts.push_back({{at, end}, true});
        }
        at += c.size;
      }
      if (end < range.end) memory.parts.push_back({{end, range.end}, false});
      append_pieces(memory.parts, behavior_, memory.ranges);
    }
    std::swap(pieces.ranges, memory.ranges);
    return {};
  }

 private:
  bool (*is_delimiter_)(char32_t);
  Behavior behavior_;
};

// Words, and runs of what is neither a word nor white space (Whitespace of the reference).
class WordSplit : public PreTokenizer {
 public:
  Status apply(Pieces& pieces, SplitMemory& memory) const override {
    memory.ranges.clear();
    for (const Range range : pieces.ranges) {
      Kind kind = Kind::kSpace;
      size_t begin = range.begin;
      for (size_t at = range.begin; at < range.end;) {
        const utf8::Character c = utf8::decode(pieces.text, at);
        const Kind next = is_word(c.code_point)    ? Kind::kWord
                          : is_space(c.code_point) ? Kind::kSpace
                                                   : Kind::kOther;
        if (next != kind) {
          if (kind != Kind::kSpace) memory.ranges.push_back({begin, at});
          begin = at;
          kind = next;
        }
        at += c.size;
      }
      if (kind != Kind::kSpace) memory.ranges.push_back({begin, range.end});
    }
    std::swap(pieces.ranges, memory.ranges);
    return {};
  }

 private:
  enum class Kind { kSpace, kWord, kOther };
};

// Writes the text of every piece anew: write(piece, is it at the beginning of the input, out).
template <typename Write>
void rewrite(Pieces& pieces, size_t reserve, Write write) {
  std::string text;
  text.reserve(reserve);
  pieces.at_start = pieces.at_start && !pieces.ranges.empty() && pieces.ranges[0].begin == 0;
  bool first = pieces.at_start;
  for (Range& range : pieces.ranges) {
    const size_t begin = text.size();
    write(pieces.at(range), first, text);
    range = {begin, text.size()};
    first = false;
  }
  pieces.own = std::move(text);
  pieces.text = pieces.own;
}

// Puts a space before every piece that does not begin with one.
class PrefixSpace : public PreTokenizer {
 public:
  Status apply(Pieces& pieces, SplitMemory&) const override {
    rewrite(pieces, pieces.text.size() + pieces.ranges.size(),
            [](std::string_view piece, bool, std::string& text) {
              if (!piece.starts_with(' ')) text += ' ';
              text += piece;
            });
    return {};
  }
};

// Writes every byte as its character.
class ByteMapping : public PreTokenizer {
 public:
  Status apply(Pieces& pieces, SplitMemory&) const override {
    rewrite(
        pieces, pieces.text.size() + pieces.text.size() / 2,
        [](std::string_view piece, bool, std::string& text) { append_byte_level(piece, text); });
    return {};
  }
};

class SpaceMarks : public PreTokenizer {
 public:
  explicit SpaceMarks(Metaspace metaspace) : metaspace_(std::move(metaspace)) {}

  Status apply(Pieces& pieces, SplitMemory&) const override {
    const std::string& mark = metaspace_.replacement;
    rewrite(pieces, pieces.text.size() * 2,
            [&](std::string_view piece, bool first, std::string& to) {
              const bool prepend = metaspace_.prepend == Metaspace::Prepend::kAlways ||
                                   (metaspace_.prepend == Metaspace::Prepend::kFirst && first);
              if (prepend && !piece.starts_with(' ') && !piece.starts_with(mark)) to += mark;
              for (const char c : piece) {
                if (c == ' ') {
                  to += mark;
                } else {
                  to += c;
                }
              }
            });
    if (metaspace_.split) split(pieces);
    return {};
  }

 private:
  void split(Pieces& pieces) const {
    std::vector<Range> ranges;
    for (const Range range : pieces.ranges) {
      size_t begin = range.begin;
      for (size_t at = begin + 1; begin < range.end; ++at) {
        at = std::min(pieces.text.find(metaspace_.replacement, at), range.end);
        ranges.push_back({begin, at});
        begin = at;
      }
    }
    pieces.ranges = std::move(ranges);
  }

  Metaspace metaspace_;
};

Status add_pattern_split(std::string_view shown, const std::string& pattern, Behavior behavior,
                         bool invert, PreTokenizers& out) {
  COLIBRI_ASSIGN(Regex regex, Regex::compile(pattern, shown));
  out.steps.push_back(std::make_unique<PatternSplit>(
      std::move(regex), AsciiMatcher::compile(pattern), behavior, invert));
  return {};
}

Result<Behavior> read_behavior(const Value& value) {
  COLIBRI_ASSIGN(const std::string_view name, value.string());
  Result<Behavior> behavior = behavior_named(name);
  return behavior.ok() ? behavior : behavior.status().at(value.path());
}

Status read_split(const Value& value, PreTokenizers& out) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "pattern", "behavior", "invert"}));
  COLIBRI_ASSIGN(const Value pattern_value, fields.required("pattern"));
  COLIBRI_ASSIGN(const Fields pattern, pattern_value.fields({"String", "Regex"}));
  const std::optional<Value> string = pattern.find("String");
  const std::optional<Value> regex = pattern.find("Regex");
  if (string.has_value() == regex.has_value()) {
    return pattern_value.expected("one of String and Regex");
  }
  COLIBRI_ASSIGN(const std::string_view shown, (string ? *string : *regex).string());
  std::string translated;
  if (string) {
    translated = literal_pattern(shown);
  } else {
    Result<std::string> result = pcre2_pattern(shown);
    if (!result.ok()) return result.status().at(regex->path());
    translated = *result;
  }
  COLIBRI_ASSIGN(const Value behavior_value, fields.required("behavior"));
  COLIBRI_ASSIGN(const Behavior behavior, read_behavior(behavior_value));
  COLIBRI_ASSIGN(const bool invert, fields.boolean_or("invert", false));
  return add_pattern_split(shown, translated, behavior, invert, out).at(value.path());
}

Status read_digits(const Value& value, PreTokenizers& out) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "individual_digits"}));
  COLIBRI_ASSIGN(const bool individual, fields.boolean("individual_digits"));
  out.steps.push_back(std::make_unique<CharacterSplit>(
      is_numeric, individual ? Behavior::kIsolated : Behavior::kContiguous));
  return {};
}

Status read_punctuation(const Value& value, PreTokenizers& out) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "behavior"}));
  Behavior behavior = Behavior::kIsolated;
  if (const std::optional<Value> name = fields.find("behavior")) {
    COLIBRI_ASSIGN(behavior, read_behavior(*name));
  }
  out.steps.push_back(std::make_unique<CharacterSplit>(is_punctuation, behavior));
  return {};
}

Status read_byte_level(const Value& value, std::optional<bool> prefix_space, PreTokenizers& out) {
  COLIBRI_ASSIGN(const Fields fields,
                 value.fields({"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  COLIBRI_ASSIGN(const bool in_file, fields.boolean("add_prefix_space"));
  COLIBRI_ASSIGN(const bool use_regex, fields.boolean_or("use_regex", true));
  COLIBRI_TRY(fields.boolean("trim_offsets").status());  // offsets are not made here
  if (prefix_space.value_or(in_file)) out.steps.push_back(std::make_unique<PrefixSpace>());
  if (use_regex) {
    COLIBRI_TRY(add_pattern(kByteLevelPattern, out));
  }
  out.byte_level = true;
  return {};
}

Status read_metaspace_marks(const Value& value, PreTokenizers& out) {
  COLIBRI_ASSIGN(Metaspace metaspace, read_metaspace(value));
  out.steps.push_back(std::make_unique<SpaceMarks>(std::move(metaspace)));
  return {};
}

Status read(const Value& value, std::optional<bool> prefix_space, int depth, PreTokenizers& out) {
  COLIBRI_ASSIGN(const std::string_view type, value.type());
  if (out.byte_level && type != "Sequence") {  // it is not the last step after all
    out.steps.push_back(std::make_unique<ByteMapping>());
    out.byte_level = false;
  }
  if (type == "Metaspace") return read_metaspace_marks(value, out);
  if (type == "Split") return read_split(value, out);
  if (type == "Digits") return read_digits(value, out);
  if (type == "Punctuation") return read_punctuation(value, out);
  if (type == "ByteLevel") return read_byte_level(value, prefix_space, out);
  if (type == "Whitespace" || type == "WhitespaceSplit") {
    COLIBRI_TRY(value.fields({"type"}).status());
    if (type == "Whitespace") {
      out.steps.push_back(std::make_unique<WordSplit>());
    } else {
      out.steps.push_back(std::make_unique<CharacterSplit>(is_space, Behavior::kRemoved));
    }
    return {};
  }
  if (type != "Sequence") {
    return value.refused("type " + utf8::printable(type) +
                         " is not supported; supported: Sequence, Split, Digits, Punctuation, "
                         "Whitespace, WhitespaceSplit, ByteLevel, Metaspace");
  }
  if (depth == kMaxDepth) return value.expected("at most 8 levels of Sequence");
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "pretokenizers"}));
  COLIBRI_ASSIGN(const Value list, fields.required("pretokenizers"));
  COLIBRI_ASSIGN(const std::vector<Value> values, list.array());
  for (const Value& part : values) COLIBRI_TRY(read(part, std::nullopt, depth + 1, out));
  return {};
}

}  // namespace

Status add_pattern(std::string_view pattern, PreTokenizers& out) {
  COLIBRI_ASSIGN(const std::string translated, pcre2_pattern(pattern));
  return add_pattern_split(pattern, translated, Behavior::kIsolated, false, out);
}

Status read_pre_tokenizer(const Value& value, std::optional<bool> prefix_space,
                          PreTokenizers& out) {
  return read(value, prefix_space, 0, out);
}

}  // namespace colibri::tokenizers
