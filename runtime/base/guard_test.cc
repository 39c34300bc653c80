// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/guard.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace colibri {
namespace {

TEST(Guard, HandsOnWhatTheBodyReturns) {
  colibri_error error = empty_error();
  EXPECT_EQ(guard(&error, [] { return Status(); }), COLIBRI_OK);
  EXPECT_EQ(guard(&error, [] { return corrupt_data("the file ends early"); }),
            COLIBRI_CORRUPT_DATA);
  EXPECT_EQ(error.code, COLIBRI_CORRUPT_DATA);
  EXPECT_STREQ(error.text, "the file ends early");
  EXPECT_EQ(guard(nullptr, [] { return not_found("x"); }), COLIBRI_NOT_FOUND);
}

TEST(Guard, NoExceptionEscapes) {
  colibri_error error = empty_error();
  EXPECT_EQ(guard(&error, []() -> Status { throw std::bad_alloc(); }), COLIBRI_OUT_OF_MEMORY);
  EXPECT_STREQ(error.text, "out of memory");
  EXPECT_EQ(guard(&error, []() -> Status { throw std::runtime_error("broken"); }),
            COLIBRI_INTERNAL);
  EXPECT_STREQ(error.text, "a library let an exception escape: broken");
  EXPECT_EQ(guard(&error, []() -> Status { throw 7; }), COLIBRI_INTERNAL);
  EXPECT_STREQ(error.text, "a library let an exception escape");
}

TEST(Guard, NamesWhoLetItEscape) {
  const Status status = guarded("open", []() -> Status { throw std::runtime_error("broken"); });
  EXPECT_EQ(status.code(), COLIBRI_INTERNAL);
  EXPECT_EQ(status.text(), "open let an exception escape: broken");
  EXPECT_TRUE(guarded("open", [] { return Status(); }).ok());
}

}  // namespace
}  // namespace colibri
