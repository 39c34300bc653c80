// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/ascii_matcher.h"

#include <gtest/gtest.h>

#include <random>

#include "plugins/tokenizers/common/pattern.h"
#include "plugins/tokenizers/common/regex.h"

namespace colibri::tokenizers {
namespace {

std::optional<AsciiMatcher> compile(std::string_view pattern) {
  const Result<std::string> translated = pcre2_pattern(pattern);
  EXPECT_TRUE(translated.ok()) << pattern;
  return AsciiMatcher::compile(*translated);
}

constexpr const char* kPatterns[] = {
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{M}]*[\p{Ll}\p{M}]+(?i:'s|'t|'re|'ve)?|[^\r\n\p{L}\p{N}]?[\p{Lu}]+[\p{Ll}]*(?i:'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"(\p{N}{1,3})",
    R"([一-龥]+)",
    R"(a?+ab|x*+y|(?:ab)?abc|[a-c]{2}b|(?=ab)a|\s*)",
    R"((?i)select|s+|a{0,2}b{2,})",
};

// The same matches as the pattern itself, in texts with and without other characters.
TEST(AsciiMatcher, FindsWhatThePatternFinds) {
  constexpr const char* kParts[] = {"a",  "b",    "c",  "S",      "x",  "y",    "'",
                                    "'s", "'LL",  " ",  "  ",     "\n", "\r\n", "\t",
                                    "1",  "1234", "<=", "\u4E2D", "é",  "/"};
  std::mt19937 random(5);
  MatchMemory memory;
  for (const char* pattern : kPatterns) {
    const auto ascii = compile(pattern);
    ASSERT_TRUE(ascii) << pattern;
    const auto regex = Regex::compile(*pcre2_pattern(pattern), pattern);
    ASSERT_TRUE(regex.ok());
    int found = 0;
    for (int round = 0; round < 3000; ++round) {
      std::string text;
      const size_t parts = round % 3 == 0 ? 20 : 17;
      for (size_t i = random() % 12; i > 0; --i) text += kParts[random() % parts];
      const size_t from = text.empty() || (text.size() > 1 && (text[1] & 0x80) != 0) ? 0 : 1;
      const AsciiMatcher::Answer answer = ascii->find(text, from);
      const Result<Match> match = regex->find(text, from, memory);
      ASSERT_TRUE(match.ok());
      if (answer.outcome == AsciiMatcher::Outcome::kFound) {
        ++found;
        ASSERT_EQ(answer.begin, match->begin) << pattern << " in " << text;
        ASSERT_EQ(answer.end, match->end) << pattern << " in " << text;
      } else if (answer.outcome == AsciiMatcher::Outcome::kNone) {
        ASSERT_EQ(match->begin, std::string_view::npos) << pattern << " in " << text;
      } else {
        ASSERT_GE(match->begin, answer.begin) << pattern << " in " << text;
      }
    }
    EXPECT_TRUE(found > 100 || pattern == kPatterns[4]) << pattern;
  }
}

TEST(AsciiMatcher, LeavesOtherPatternsAlone) {
  for (const char* pattern :
       {"^a", "a$", R"(\Aa)", "(?<=a)b", "(?>a)b", "a+?", "(?:ab)+", R"(\s+$)"}) {
    EXPECT_FALSE(compile(pattern)) << pattern;
  }
}

TEST(AsciiMatcher, AsksWhenItTakesTooLong) {
  std::string pattern;
  for (int i = 0; i < 12; ++i) pattern += "a*";
  const auto ascii = compile(pattern + "b");
  ASSERT_TRUE(ascii);
  EXPECT_EQ(ascii->find(std::string(200, 'a'), 0).outcome, AsciiMatcher::Outcome::kAsk);
}

}  // namespace
}  // namespace colibri::tokenizers
