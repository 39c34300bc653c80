// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/value.h"

#include <gtest/gtest.h>

namespace colibri::config {
namespace {

Value parse(std::string_view text) {
  Problems problems;
  std::optional<Value> value = parse_yaml(text, "t.yaml", problems);
  EXPECT_TRUE(problems.empty()) << problems.status().text();
  return value.value_or(Value());
}

Value scalar(std::string_view text) {
  return *parse("k: " + std::string(text)).find("k");
}

TEST(Value, KeepsTextOrderAndKinds) {
  const Value root = parse("b: [1, {c: ~}]\na: 'x'\n");
  ASSERT_TRUE(root.is_map());
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(root.children[0].key, "b");
  EXPECT_TRUE(root.find("b")->is_list());
  EXPECT_EQ(root.at("b.0")->text, "1");
  EXPECT_TRUE(root.at("b.1.c")->is_null());
  EXPECT_FALSE(root.at("b.0")->quoted);
  EXPECT_TRUE(root.find("a")->quoted);
  EXPECT_EQ(root.at("b.2"), nullptr);
  EXPECT_EQ(root.at("a.x"), nullptr);
}

TEST(Value, KnowsWhereEverythingStands) {
  const Value root = parse("a:\n  - {\xE4\xB8\xAD: \xE6\x96\x87, b: 2}\n");
  const Value* b = root.at("a.0.b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->key_position.text(), "t.yaml:2:12");  // columns are characters, not bytes
  EXPECT_EQ(b->position.text(), "t.yaml:2:15");
  EXPECT_EQ(root.find("a")->position.text(), "t.yaml:2:3");
}

TEST(Value, AMissingValueStandsAtItsKey) {
  EXPECT_EQ(parse("a:\nb: 1\n").find("a")->position.text(), "t.yaml:1:1");
}

TEST(Value, ReadsStrictIntegers) {
  EXPECT_EQ(to_integer(scalar("0")), 0);
  EXPECT_EQ(to_integer(scalar("-12")), -12);
  EXPECT_EQ(to_integer(scalar("9223372036854775807")), INT64_MAX);
  for (const char* bad : {"010", "0x10", "0o17", "1e3", "1_000", "+1", "1.0", "9223372036854775808",
                          "'1'", "yes", "[1]", "--1", "1-", "-a"}) {
    EXPECT_FALSE(to_integer(scalar(bad))) << bad;
  }
}

TEST(Value, ReadsStrictNumbers) {
  EXPECT_EQ(to_number(scalar("1e-5")), 1e-5);
  EXPECT_EQ(to_number(scalar("-0.25")), -0.25);
  EXPECT_EQ(to_number(scalar("3")), 3.0);
  for (const char* bad :
       {".5", "1.", "01.5", "1e", "1e999", "inf", ".inf", "nan", "0x1p3", "1,5", "'0.5'"}) {
    EXPECT_FALSE(to_number(scalar(bad))) << bad;
  }
}

TEST(Value, OnlyTrueAndFalseAreBooleans) {
  EXPECT_EQ(to_boolean(scalar("true")), true);
  EXPECT_EQ(to_boolean(scalar("false")), false);
  for (const char* bad : {"yes", "no", "on", "off", "True", "TRUE", "y", "1", "'true'"}) {
    EXPECT_FALSE(to_boolean(scalar(bad))) << bad;
  }
}

TEST(Value, BlockScalarsAreText) {
  const Value value = *parse("k: |\n  10\n  20\n").find("k");
  EXPECT_EQ(value.text, "10\n20\n");
  EXPECT_TRUE(value.quoted);
}

TEST(Problems, AreOrderedDeduplicatedAndBounded) {
  Problems problems;
  const auto file = std::make_shared<const std::string>("f");
  problems.add({file, 3, 1}, "c", "third");
  problems.add({file, 1, 9}, "a", "first");
  problems.add({file, 1, 9}, "a", "follows from the first");
  problems.add({file, 2, 1}, "b", "second");
  EXPECT_EQ(problems.status().text(), "f:1:9: a: first\nf:2:1: b: second\nf:3:1: c: third");
  for (int i = 0; i < 100; ++i) problems.add({file, 10 + i, 1}, "x", "more");
  EXPECT_EQ(problems.list().size(), 50u);
  EXPECT_TRUE(problems.status().text().ends_with("\n... and 53 more problems"));
}

TEST(Problems, SuggestWhatIsNear) {
  const std::vector<std::string_view> allowed = {"threads", "experts", "q4_0"};
  const auto near = [&](std::string_view text) { return suggestion(text, allowed); };
  EXPECT_EQ(near("thraeds"), " (did you mean 'threads'? allowed: threads, experts, q4_0)");
  EXPECT_EQ(near("Threads"), " (did you mean 'threads'? allowed: threads, experts, q4_0)");
  EXPECT_EQ(near("q4"), " (did you mean 'q4_0'? allowed: threads, experts, q4_0)");
  EXPECT_EQ(near("cache"), " (allowed: threads, experts, q4_0)");
  EXPECT_EQ(near(""), " (allowed: threads, experts, q4_0)");
}

}  // namespace
}  // namespace colibri::config
