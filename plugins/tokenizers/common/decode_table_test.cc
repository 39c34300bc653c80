// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/decode_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace colibri::tokenizers {
namespace {

enum Id : int32_t { kHello, kTwoSpaces, kE4, kB8, kAD, kSpaceByte, kSpecial, kIds };

DecodeTable table_of(TextRules rules) {
  DecodeTable table(rules);
  table.resize(kIds);
  table.set(kHello, " hello");
  table.set(kTwoSpaces, "  ");
  table.set_byte(kE4, '\xE4');
  table.set_byte(kB8, '\xB8');
  table.set_byte(kAD, '\xAD');
  table.set_byte(kSpaceByte, ' ');
  table.set(kSpecial, "<s>");
  table.set_special(kSpecial);
  return table;
}

std::string decode(const DecodeTable& table, const std::vector<int32_t>& ids, bool skip = false) {
  DecodeState state = {};
  char text[256];
  TextOut out{text, sizeof(text)};
  for (const int32_t id : ids) table.decode(state, id, skip, out);
  table.end(state, out);
  EXPECT_FALSE(state.started);  // as new
  return std::string(text, out.size);
}

TEST(DecodeTable, StripsOnlyTheBeginning) {
  const DecodeTable table = table_of({1, ' ', false});
  EXPECT_EQ(decode(table, {kHello, kHello}), "hello hello");
  EXPECT_EQ(decode(table, {kTwoSpaces, kHello}), "  hello");
  EXPECT_EQ(decode(table, {kSpaceByte, kHello}), " hello");
  EXPECT_EQ(decode(table, {kSpecial, kHello}), "<s> hello");
  EXPECT_EQ(decode(table, {kSpecial, kHello}, true), "hello");
  EXPECT_EQ(decode(table_of({3, ' ', false}), {kTwoSpaces, kHello}), "hello");
  EXPECT_EQ(decode(table_of({}), {kHello}), " hello");
}

TEST(DecodeTable, BytesAmongText) {
  const DecodeTable table = table_of({1, ' ', false});
  EXPECT_EQ(decode(table, {kE4, kB8, kAD, kHello}), "\u4E2D hello");
  EXPECT_EQ(decode(table, {kE4, kB8, kHello}), "\uFFFD\uFFFD hello");
  EXPECT_EQ(decode(table, {kE4, kB8}), "\uFFFD\uFFFD");
  EXPECT_EQ(decode(table, {kB8, kE4, kB8, kAD}), "\uFFFD\u4E2D");
  EXPECT_EQ(decode(table, {kE4, -1, kIds, kB8, kAD}), "\u4E2D");  // unknown ids are nothing
}

TEST(DecodeTable, TheFirstTokenMayDiffer) {
  DecodeTable table = table_of({0, ' ', true});
  table.set_first(kHello, "hello");
  EXPECT_EQ(decode(table, {kHello, kHello}), "hello hello");
  EXPECT_EQ(decode(table, {kSpecial, kHello}, true), "hello");
}

}  // namespace
}  // namespace colibri::tokenizers
