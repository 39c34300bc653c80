// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/added_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace colibri::tokenizers {
namespace {

AddedToken token(std::string content) {
  AddedToken result;
  result.content = std::move(content);
  return result;
}

class AddedTokensTest : public ::testing::Test {
 protected:
  static Vocabulary vocabulary() {
    simdjson::dom::parser parser;
    return std::move(*Vocabulary::read(*parse_json(parser, R"({"a": 0, "b": 7})", "vocab")));
  }

  void add(const std::vector<AddedToken>& tokens) {
    const Status status =
        added_.add(tokens, vocabulary(), [](std::string_view text) { return std::string(text); });
    ASSERT_TRUE(status.ok()) << status.text();
  }

  // Tokens in brackets.
  std::string cut(const std::string& text, bool parse_special = true) const {
    std::vector<Section> sections;
    added_.find(text, false, parse_special, sections);
    std::string result;
    for (const Section& section : sections) {
      const std::string part =
          text.substr(section.range.begin, section.range.end - section.range.begin);
      result += section.id >= 0 ? "[" + part + "]" : part;
    }
    return result;
  }

  AddedTokens added_;
};

TEST_F(AddedTokensTest, TheLongestAtTheLeftmostPlace) {
  add({token("ab"), token("abcd"), token("bc"), token("cde")});
  EXPECT_EQ(cut("abcde"), "[abcd]e");
  EXPECT_EQ(cut("abce"), "[ab]ce");
  EXPECT_EQ(cut("abcabx"), "[ab]c[ab]x");
  EXPECT_EQ(cut(""), "");
}

TEST_F(AddedTokensTest, StripTakesInSpaces) {
  AddedToken left = token("<l>");
  left.lstrip = true;
  AddedToken right = token("<r>");
  right.rstrip = true;
  add({left, right, token(" ")});
  EXPECT_EQ(cut("x\u3000\t<l>y"), "x[\u3000\t<l>]y");
  EXPECT_EQ(cut("x<r>\n\u2003y"), "x[<r>\n\u2003]y");
  EXPECT_EQ(cut("<r>\n<l>"), "[<r>\n][<l>]");  // the first one has the space
}

TEST_F(AddedTokensTest, ATokenInsideOfWhatRstripTookIsFoundAgain) {
  AddedToken right = token("<r>");
  right.rstrip = true;
  add({right, token("  ")});
  EXPECT_EQ(cut("<r>  x"),
            "[<r>  ][  ]x");  // as in the reference: the search does not know of the strip
}

TEST_F(AddedTokensTest, ATokenWithNothingLeftIsLost) {
  AddedToken right = token("<r>");
  right.rstrip = true;
  AddedToken spaces = token("  ");
  spaces.lstrip = true;
  add({right, spaces});
  EXPECT_EQ(cut("<r>  x"), "[<r>  ]x");
}

TEST_F(AddedTokensTest, SingleWords) {
  AddedToken word = token("tok");
  word.single_word = true;
  add({word});
  EXPECT_EQ(cut("tok tok. token\u00E9tok -tok_"), "[tok] [tok]. token\u00E9tok -tok_");
  EXPECT_EQ(cut("\u0301tok"), "\u0301tok");  // a mark is of a word
}

TEST_F(AddedTokensTest, SpecialTokensAreTextIfNotParsed) {
  AddedToken special = token("<s>");
  special.special = true;
  add({special, token("s>")});
  EXPECT_EQ(cut("<s>s>", false), "<s>[s>]");  // what the special one covers stays text
  EXPECT_EQ(cut("<s>s>"), "[<s>][s>]");
}

TEST_F(AddedTokensTest, IdsFollowTheReference) {
  add({token("b"), token("new"), token("newer")});
  EXPECT_EQ(added_.id("b"), 7);    // is in the vocabulary
  EXPECT_EQ(added_.id("new"), 8);  // behind the largest added id, 7
  EXPECT_EQ(added_.id("newer"), 9);
  EXPECT_EQ(added_.with_id(8)->content, "new");
  EXPECT_EQ(added_.with_id(0), nullptr);
  AddedToken stated = token("other");
  stated.id = 42;
  EXPECT_EQ(added_.add({stated}, vocabulary(), nullptr).code(), COLIBRI_CORRUPT_DATA);
}

TEST_F(AddedTokensTest, ManyStripsInOneRunOfSpacesCostNoSquare) {
  AddedToken spaces = token("  ");
  spaces.rstrip = spaces.lstrip = true;
  add({spaces});
  const std::string text(1 << 20, ' ');
  EXPECT_EQ(cut(text), "[" + text + "]");
}

}  // namespace
}  // namespace colibri::tokenizers
