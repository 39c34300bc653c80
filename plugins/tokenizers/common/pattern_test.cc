// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/tokenizers/common/regex.h"

namespace colibri::tokenizers {
namespace {

// The matches of a pattern, as text.
std::vector<std::string> matches(const std::string& pattern, const std::string& text) {
  const Result<std::string> translated = pcre2_pattern(pattern);
  EXPECT_TRUE(translated.ok()) << translated.status().text();
  if (!translated.ok()) return {};
  const Result<Regex> regex = Regex::compile(*translated, pattern);
  EXPECT_TRUE(regex.ok()) << regex.status().text();
  if (!regex.ok()) return {};
  MatchMemory memory;
  std::vector<std::string> found;
  for (size_t from = 0; from <= text.size();) {
    const Result<Match> match = regex->find(text, from, memory);
    EXPECT_TRUE(match.ok()) << match.status().text();
    if (!match.ok() || match->begin == std::string::npos) break;
    found.push_back(text.substr(match->begin, match->end - match->begin));
    from = match->end + (match->begin == match->end ? 1 : 0);
  }
  return found;
}

using Texts = std::vector<std::string>;

TEST(Pattern, MeansWhatOnigurumaMeans) {
  // White space has no U+180E, and lines end at \n only.
  EXPECT_EQ(matches(R"(\s+)", "a\u180E\u3000 \u0085b"), Texts{"\u3000 \u0085"});
  EXPECT_EQ(matches("^.", "ab\ncd\rcd\u2028e\n"), (Texts{"a", "c"}));
  EXPECT_EQ(matches(R"(.$)", "ab\ncd"), (Texts{"b", "d"}));
  EXPECT_EQ(matches(R"(\v)", "\n\v\f"), Texts{"\v"});
  // Words: marks and connectors, and outside of sets also superscripts and fractions of Latin-1.
  EXPECT_EQ(matches(R"(\w+)", "e\u0301\u203F1 \u00B2 \u2460"), (Texts{"e\u0301\u203F1", "\u00B2"}));
  EXPECT_EQ(matches(R"(\W)", "a-\u2460b"), (Texts{"-", "\u2460"}));
  EXPECT_EQ(matches(R"([\w]+|[\W])", "a\u00B2b"), (Texts{"a", "\u00B2", "b"}));
  EXPECT_EQ(matches(R"(\h+)", "xAf9g"), Texts{"Af9"});
  // Characters of Unicode 16 are known.
  EXPECT_EQ(matches(R"(\p{S}+|\p{Lo}\d)", "\U0001FA77\U0001FAE9 \U00031350\U00010D40"),
            (Texts{"\U0001FA77\U0001FAE9", "\U00031350\U00010D40"}));
  EXPECT_EQ(matches(R"(\P{L}\w)", "-\u1C8A\u1C8A"), Texts{"-\u1C8A"});
  // Scripts are scripts, not their extensions.
  EXPECT_EQ(matches(R"(\p{Han}+)", "\u4E2D\u3001\u6587"), (Texts{"\u4E2D", "\u6587"}));
  EXPECT_EQ(matches(R"(\p{^L}\P{L}\P{^L})", "1-a"), Texts{"1-a"});
}

TEST(Pattern, Quantifiers) {
  EXPECT_EQ(matches("a{,2}b", "aaab"), Texts{"aab"});
  EXPECT_EQ(matches("a{2}", "aaaaa"), (Texts{"aa", "aa"}));
  EXPECT_EQ(matches("(?:a{1,2})+?b|a{1,2}+", "aaaaa"), Texts{"aaaaa"});  // repeated, not possessive
  EXPECT_EQ(matches("a++a", "aaa"), Texts{});                            // possessive
  EXPECT_EQ(matches("a{,2}(?:x)?+a", "ay"), Texts{"a"});   // PCRE2 10.42 misses it by itself
  EXPECT_EQ(matches(R"((?>\S+?)a)", "zya"), Texts{"ya"});  // likewise
  EXPECT_EQ(matches("b?+b", "bb"), Texts{"bb"});
  EXPECT_EQ(matches("a+?b??", "aab"), (Texts{"a", "a"}));
}

TEST(Pattern, Sets) {
  EXPECT_EQ(matches(R"([a-c\-x]+)", "abc-xd"), Texts{"abc-x"});
  EXPECT_EQ(matches("[-a]+", "-a-"), Texts{"-a-"});
  EXPECT_EQ(matches("[a-]+", "-a-"), Texts{"-a-"});
  EXPECT_EQ(matches(R"([^\s\p{L}]+)", "ab 12\tc"), Texts{"12"});
  EXPECT_EQ(matches("[a[bc]\\W]+", "abc-d"), Texts{"abc-"});
  EXPECT_EQ(matches(R"([\p{L}&&[^\p{Han}]]+)", "ab\u4E2Dc"), (Texts{"ab", "c"}));
  EXPECT_EQ(matches(R"([\x41-\u0043\x{1F600}\n]+)", "ABCD\n\U0001F600"),
            (Texts{"ABC", "\n\U0001F600"}));
  EXPECT_EQ(matches(R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]+)", "a[]{}\\&&^b"),
            Texts{"[]{}\\&&^"});
}

TEST(Pattern, CaselessContractions) {
  EXPECT_EQ(matches("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'S'Re'x'LL'\u017F"),
            (Texts{"'S", "'Re", "'LL", "'\u017F"}));
  EXPECT_EQ(matches("(?i)ab|c", "aBC"), (Texts{"aB", "C"}));
  EXPECT_EQ(matches("(?i:a)b", "AbAB"), Texts{"Ab"});
}

TEST(Pattern, AnEndThatIsNotReachedCostsNoSquare) {
  const std::string text = std::string(1 << 20, ' ') + "a" + "  ";
  EXPECT_EQ(matches(R"(\s+$)", text), Texts{"  "});  // hangs for minutes if each start is tried
  EXPECT_EQ(matches(R"(\s+$)", " \n a \nb"), (Texts{" ", " "}));
  EXPECT_EQ(matches(R"(\d+x)", "12 123x4x"), (Texts{"123x", "4x"}));
}

TEST(Pattern, WhatIsNotTheSameInBothIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(\bword)", "an unknown escape at byte 2"},
      {R"((a)\1)", "an unknown escape at byte 5"},
      {R"(\R)", "an unknown escape at byte 2"},
      {R"(a\)", "a backslash at its end at byte 2"},
      {"(?<name>a)", "a special group at byte 0"},
      {"(?m:a)", "a special group at byte 0"},
      {"a(?i)b", "a special group at byte 1"},
      {"(*ACCEPT)", "a special group at byte 0"},
      {"(a", "a ( without ) at byte 2"},
      {"a)", "a ) without ( at byte 1"},
      {"+a", "a quantifier with nothing before it at byte 0"},
      {"(?=a)*", "a repeated assertion at byte 6"},
      {"^*", "a repeated assertion at byte 2"},
      {"(?:a*|b)+", "a repetition of what may be empty at byte 9"},
      {"(?:a?b?\?)*", "a repetition of what may be empty at byte 10"},
      {"a?{2}", "a repetition of what may be empty at byte 5"},
      {"a{b", "a { that is no quantifier at byte 2"},
      {"a{2}?", "a lazy {n} at byte 4"},
      {"a{12345}", "a repeat count above 9999 at byte 8"},
      {"[a", "a set without ] at byte 2"},
      {"[]a]", "a set that begins with ] at byte 1"},
      {"[[:alpha:]]", "a POSIX class at byte 1"},
      {"[a&&]", "an empty side of && at byte 4"},
      {"[^a[b]]", "a negated set with a negated class, sets or && in it at byte 7"},
      {"[^a&&b]", "a negated set with a negated class, sets or && in it at byte 7"},
      {"[a-c-e]", "a - in the middle of a set at byte 5"},
      {R"([\d-x])", "a range that begins with a class at byte 3"},
      {"[c-a]", "a range without an end at byte 4"},
      {R"(\pL)", "a property without braces at byte 2"},
      {R"(\p{})", "a property without a name at byte 4"},
      {R"(\p{Script=Han})", "an unknown property at byte 14"},
      {R"(\xE9)", "a hexadecimal escape of no character at byte 4"},
      {R"(\x{D800})", "a hexadecimal escape of no character at byte 8"},
      {R"(\u12)", "a hexadecimal escape cut short at byte 4"},
      {"(?i:[a[b]])", "a nested set under (?i) at byte 6"},
      {"(?i:ss)", "the letters \"ss\" under (?i) at byte 6"},
      {"(?i:\u00E9)", "a character beyond ASCII under (?i) at byte 6"},
      {R"((?i:\p{L}))", "a property under (?i) at byte 7"},
  };
  for (const auto& [pattern, what] : cases) {
    const Result<std::string> result = pcre2_pattern(pattern);
    ASSERT_FALSE(result.ok()) << pattern;
    EXPECT_EQ(result.status().code(), COLIBRI_UNSUPPORTED);
    EXPECT_NE(result.status().text().find(std::string(" has ") + what + ","), std::string::npos)
        << result.status().text();
  }
}

TEST(Pattern, DepthIsBounded) {
  EXPECT_FALSE(pcre2_pattern(std::string(100000, '(')).ok());
  EXPECT_FALSE(pcre2_pattern(std::string(100000, '[')).ok());
}

TEST(Pattern, UnknownPropertiesAndEndlessPatternsAreRefused) {
  EXPECT_EQ(Regex::compile(*pcre2_pattern(R"(\p{Letter})"), "x").status().code(),
            COLIBRI_UNSUPPORTED);
  EXPECT_EQ(Regex::compile(std::string(70000, 'a'), "aaa").status().code(), COLIBRI_UNSUPPORTED);
}

TEST(Pattern, RunawayMatchesEndInAnError) {
  const Result<Regex> regex = Regex::compile(*pcre2_pattern("(?:a|aa)+[bc]"), "x");
  ASSERT_TRUE(regex.ok());
  MatchMemory memory;
  const Result<Match> match = regex->find(std::string(2000, 'a'), 0, memory);
  ASSERT_FALSE(match.ok());
  EXPECT_EQ(match.status().code(), COLIBRI_INVALID_ARGUMENT);
}

TEST(Pattern, LiteralsMatchThemselvesOnly) {
  const std::string odd = "a.*+?()[]{}|\\^$-#&~ \n\t\x01\u00E9\U0001F600";
  const Result<Regex> regex = Regex::compile(literal_pattern(odd), odd);
  ASSERT_TRUE(regex.ok()) << regex.status().text();
  MatchMemory memory;
  const Result<Match> match = regex->find("xx" + odd + "yy", 0, memory);
  ASSERT_TRUE(match.ok());
  EXPECT_EQ(match->begin, 2u);
  EXPECT_EQ(match->end, 2 + odd.size());
  EXPECT_EQ(regex->find("abc", 0, memory)->begin, std::string::npos);
}

}  // namespace
}  // namespace colibri::tokenizers
