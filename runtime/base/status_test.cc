// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/status.h"

#include <gtest/gtest.h>

#include <cstring>

namespace colibri {
namespace {

TEST(Status, CrossesTheCBoundaryAndBack) {
  colibri_error error = empty_error();
  EXPECT_EQ(to_c(not_found("no such thing"), &error), COLIBRI_NOT_FOUND);
  const Status back = from_c(error.code, error, "open");
  EXPECT_EQ(back.code(), COLIBRI_NOT_FOUND);
  EXPECT_EQ(back.text(), "no such thing");
  EXPECT_EQ(to_c(not_found("x"), nullptr), COLIBRI_NOT_FOUND);
}

TEST(Status, AFailureWithoutTextIsNamed) {
  EXPECT_EQ(from_c(COLIBRI_INTERNAL, empty_error(), "lru: create").text(),
            "lru: create failed with status 9");
}

TEST(Status, StaysInsideTheCallersStruct) {
  colibri_error error = empty_error();
  error.struct_size = offsetof(colibri_error, text) + 8;
  std::memset(error.text, 'x', sizeof(error.text));
  to_c(internal_error("abcdef\xE4\xB8\xAD"), &error);
  EXPECT_STREQ(error.text, "abcdef");
  EXPECT_EQ(error.text[8], 'x');
}

Result<int> half(int value) {
  if (value % 2 != 0) return invalid_argument("odd");
  return value / 2;
}
Result<int> quarter(int value) {
  COLIBRI_ASSIGN(const int first, half(value));
  COLIBRI_ASSIGN(const int second, half(first));
  return second;
}

TEST(Status, ResultsChain) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).status().text(), "odd");
  EXPECT_EQ(invalid_argument("odd").at("a.yaml:3:1").text(), "a.yaml:3:1: odd");
}

}  // namespace
}  // namespace colibri
