// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/pieces.h"

#include <gtest/gtest.h>

#include <string>

namespace colibri::tokenizers {
namespace {

// Cuts "a--b-" at each '-'; pieces joined by '|'.
std::string cut(const std::string& text, const std::string& behavior) {
  std::vector<Part> parts;
  for (size_t i = 0; i < text.size(); ++i) parts.push_back({{i, i + 1}, text[i] == '-'});
  std::vector<Range> pieces;
  append_pieces(parts, *behavior_named(behavior), pieces);
  std::string result;
  for (const Range piece : pieces)
    result += text.substr(piece.begin, piece.end - piece.begin) + "|";
  return result;
}

TEST(Pieces, Behaviors) {
  EXPECT_EQ(cut("a--b-", "Removed"), "a|b|");
  EXPECT_EQ(cut("a--b-", "Isolated"), "a|-|-|b|-|");
  EXPECT_EQ(cut("a--b-", "MergedWithPrevious"), "a-|-|b-|");
  EXPECT_EQ(cut("a--b-", "MergedWithNext"), "a|-|-b|-|");
  EXPECT_EQ(cut("a--b-", "Contiguous"), "a|--|b|-|");
  EXPECT_EQ(cut("-a", "MergedWithPrevious"), "-|a|");
  EXPECT_EQ(cut("-a", "MergedWithNext"), "-a|");
  EXPECT_EQ(cut("--", "Contiguous"), "--|");
  for (const char* name :
       {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}) {
    EXPECT_EQ(cut("", name), "");
  }
}

TEST(Pieces, EmptyPiecesVanish) {
  std::vector<Range> pieces;
  append_pieces({{{0, 0}, true}, {{0, 1}, false}, {{1, 1}, true}}, Behavior::kIsolated, pieces);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].end, 1u);
}

TEST(Pieces, AnUnknownBehaviorIsNamed) {
  EXPECT_EQ(behavior_named("Kept").status().text(),
            "behavior 'Kept' is none of Removed, Isolated, MergedWithPrevious, MergedWithNext, "
            "Contiguous");
}

}  // namespace
}  // namespace colibri::tokenizers
