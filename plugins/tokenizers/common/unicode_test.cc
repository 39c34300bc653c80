// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>
#include <string>

namespace colibri::tokenizers {
namespace {

std::string utf8(const std::u32string& text) {
  std::string result;
  for (const char32_t c : text) {
    utf8proc_uint8_t bytes[4];
    const auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
    result.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
  }
  return result;
}

std::string nfc_of_the_library(const std::string& text) {
  utf8proc_uint8_t* out = nullptr;
  const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                              static_cast<utf8proc_ssize_t>(text.size()), &out,
                              static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  EXPECT_GE(n, 0);
  std::string result(reinterpret_cast<const char*>(out), static_cast<size_t>(n));
  std::free(out);
  return result;
}

TEST(Nfc, Examples) {
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("\u212B"), "\u00C5");
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(nfc("\u1100\u1161\u11A8"), "\uAC01");
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C");  // is excluded from composition
  EXPECT_EQ(nfc("plain, \u00E9"), "plain, \u00E9");
  EXPECT_EQ(nfc(std::string("a\0e\u0301", 5)), std::string("a\0\u00E9", 4));
  EXPECT_EQ(nfc(""), "");
}

TEST(Nfc, RandomTextsLikeTheLibrary) {
  std::mt19937 random(7);
  constexpr char32_t kBegins[] = {0x20,   0xC0,   0x300, 0x1E00, 0x1100,  0x1161,
                                  0x11A8, 0xAC00, 0x900, 0xF900, 0x1D15E, 0x2F800};
  for (int i = 0; i < 3000; ++i) {
    std::u32string text;
    for (int k = 0; k < 12; ++k)
      text += static_cast<char32_t>(kBegins[random() % std::size(kBegins)] + random() % 40);
    EXPECT_EQ(nfc(utf8(text)), nfc_of_the_library(utf8(text)));
  }
}

TEST(Nfc, ALongRunOfMarksCostsNoSquare) {
  std::string marks = "a";
  for (int i = 0; i < 200000; ++i)
    marks += "\u0301\u0323";  // classes 230 and 220: the order turns round
  const std::string result = nfc(marks);
  EXPECT_EQ(result.substr(0, 3), "\u1EA1");  // a and the first dot below
  EXPECT_EQ(result.size(), 3 + 2 * 399999u);
}

TEST(Classes, FollowTheReference) {
  EXPECT_TRUE(is_numeric('7') && is_numeric(0xBD) && is_numeric(0x2167));
  EXPECT_TRUE(is_numeric(0x10D40) && is_word(0x10D40) && is_word(0x1C8A));  // of Unicode 16
  EXPECT_FALSE(is_numeric('a') || is_numeric(0x4E00));
  EXPECT_TRUE(is_space(0x85) && is_space(0x3000) && is_space('\v') && is_space(0x2028));
  EXPECT_FALSE(is_space(0x180E) || is_space(0x200B) || is_space(0x1F));
  EXPECT_TRUE(is_word('_') && is_word(0x301) && is_word(0x200D) && is_word(0x24B6) &&
              is_word(0x2163));
  EXPECT_FALSE(is_word(0xB2) || is_word('-') || is_word(0x2460));
  EXPECT_TRUE(is_punctuation('$') && is_punctuation(0x3001) && is_punctuation(0x166D));
  EXPECT_FALSE(is_punctuation(0x2E43) || is_punctuation('a') || is_punctuation(0xA7 + 1));
}

}  // namespace
}  // namespace colibri::tokenizers
