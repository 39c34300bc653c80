// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace colibri::model {
namespace {

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(glob_matches("*.rotary_emb.inv_freq", "model.layers.0.rotary_emb.inv_freq"));
  EXPECT_TRUE(glob_matches("mtp.*", "mtp."));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_TRUE(glob_matches("*a*b*", "xxaxxbxx"));
  EXPECT_TRUE(glob_matches("*ab", "aab"));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("**", "x"));
  EXPECT_FALSE(glob_matches("*.inv_freq", "model.inv_freq.weight"));
  EXPECT_FALSE(glob_matches("mtp.*", "model.mtp.x"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("?", ""));
}

TEST(Glob, AllElseStandsForItself) {
  EXPECT_TRUE(glob_matches("a.[0]", "a.[0]"));
  EXPECT_FALSE(glob_matches("a.[0]", "a.0"));
}

// A matcher that tries every split of the text would need longer than any test runs.
TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string glob;
  for (int i = 0; i < 40; ++i) glob += "*a";
  EXPECT_FALSE(glob_matches(glob + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace colibri::model
