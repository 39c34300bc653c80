// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/decode_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

std::string decode(std::string_view bytes, size_t chunk) {
  std::string text(3 * bytes.size() + 3, '?');
  TextOut out{text.data(), text.size()};
  DecodeState state = {};
  for (size_t at = 0; at < bytes.size(); at += chunk)
    decode_bytes(state, bytes.substr(at, chunk), Broken::kMaximalParts, out);
  decode_end(state, Broken::kMaximalParts, out);
  text.resize(out.size);
  return text;
}

TEST(DecodeStream, MaximalPartsBecomeOneReplacementEach) {
  const std::string r = "\uFFFD";
  EXPECT_EQ(decode("a\u00E9\u4E2D\U0001F600", 1), "a\u00E9\u4E2D\U0001F600");
  EXPECT_EQ(decode("\x80\xBF", 1), r + r);
  EXPECT_EQ(decode("\xC0\xAF", 1), r + r);          // overlong
  EXPECT_EQ(decode("\xE0\x80\xAF", 1), r + r + r);  // overlong: the second byte cannot follow
  EXPECT_EQ(decode("\xED\xA0\x80", 1), r + r + r);  // surrogate
  EXPECT_EQ(decode("\xF0\x9F\x98", 1), r);          // cut off
  EXPECT_EQ(decode("\xF0\x9F\x98"
                   "a",
                   1),
            r + "a");
  EXPECT_EQ(decode("\xF4\x90\x80\x80", 1), r + r + r + r);  // beyond U+10FFFF
  EXPECT_EQ(decode("\xE2\x82\xE2\x82\xAC", 1), r + "\u20AC");
  EXPECT_EQ(decode("\xFF", 1), r);
}

TEST(DecodeStream, ChunksDoNotMatterAndTheResultIsUtf8) {
  std::mt19937 random(3);
  constexpr unsigned char kBytes[] = {'a',  0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2,
                                      0xE0, 0xE2, 0xED, 0xF0, 0xF1, 0xF4, 0xF5};
  for (int i = 0; i < 5000; ++i) {
    std::string bytes;
    for (int k = 0; k < 9; ++k) bytes += static_cast<char>(kBytes[random() % std::size(kBytes)]);
    const std::string whole = decode(bytes, bytes.size());
    EXPECT_TRUE(utf8::valid(whole));
    for (const size_t chunk : {1, 2, 3}) EXPECT_EQ(decode(bytes, chunk), whole);
  }
}

TEST(DecodeStream, CountsWhatDoesNotFitAndWritesNothingBeyond) {
  char text[4] = {'?', '?', '?', '?'};
  TextOut out{text, 3};
  DecodeState state = {};
  decode_bytes(state, "ab\u4E2D", Broken::kMaximalParts, out);
  EXPECT_EQ(out.size, 5u);
  EXPECT_EQ(text[3], '?');
}

}  // namespace
}  // namespace colibri::tokenizers
