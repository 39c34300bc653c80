// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace colibri::utf8 {
namespace {

TEST(Utf8, StepsOverEveryLength) {
  const std::string text = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80";
  EXPECT_EQ(decode(text, 0).code_point, U'a');
  EXPECT_EQ(decode(text, 1).code_point, U'\u00E9');
  EXPECT_EQ(decode(text, 3).code_point, U'\u4E2D');
  EXPECT_EQ(decode(text, 6).code_point, U'\U0001F600');
  EXPECT_EQ(decode(text, 6).size, 4u);
  EXPECT_TRUE(valid(text));
}

TEST(Utf8, RefusesWhatIsNotUtf8) {
  for (const char* bad : {"\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE4\xB8", "\xC3("}) {
    EXPECT_EQ(valid_prefix(std::string("ok") + bad), 2u) << bad;
  }
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(truncated("a\xE4\xB8\xAD", 3), "a");
  EXPECT_EQ(truncated("a\xE4\xB8\xAD", 4), "a\xE4\xB8\xAD");
  EXPECT_EQ(truncated("\xE4\xB8\xAD", 2), "");
}

TEST(Utf8, PrintableTextIsQuotedAndShort) {
  EXPECT_EQ(printable("model.norm.weight"), "'model.norm.weight'");
  EXPECT_EQ(printable("a\x1b[31m\n\x7f"), "'a\\x1b[31m\\x0a\\x7f'");
  EXPECT_EQ(printable("\xc2\x85"), "'\\xc2\\x85'");           // a control character of two bytes
  EXPECT_EQ(printable("\xff\xe4\xb8"), "'\\xff\\xe4\\xb8'");  // no UTF-8
  EXPECT_EQ(printable("\xe9\x98\x80"), "'\xe9\x98\x80'");
  const std::string longest(kPrintableBytes, 'x');
  EXPECT_EQ(printable(longest), "'" + longest + "'");
  EXPECT_EQ(printable(longest + "x"), "'" + longest + "...'");
}

}  // namespace
}  // namespace colibri::utf8
