// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/part_name.h"

#include <gtest/gtest.h>

namespace colibri {
namespace {

TEST(PartName, ReadsAndWritesNames) {
  const auto name = read_part_name("a-b.c-00002-of-00011.gguf");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->stem, "a-b.c");
  EXPECT_EQ(name->part, 2u);
  EXPECT_EQ(name->parts, 11u);
  EXPECT_EQ(name->of(2), "a-b.c-00002-of-00011.gguf");
  EXPECT_EQ(name->of(11), "a-b.c-00011-of-00011.gguf");
  EXPECT_EQ(read_part_name("-00001-of-00001.x")->stem, "");
}

TEST(PartName, OtherNamesAreNone) {
  for (const char* name :
       {"", "a.gguf", "a-00001-of-00003", "a-0001-of-00003.gguf", "a-00000-of-00003.gguf",
        "a-00004-of-00003.gguf", "a-0000x-of-00003.gguf", "a-00001-to-00003.gguf",
        "a-+0001-of-00003.gguf", "00001-of-00003.gguf"}) {
    EXPECT_FALSE(read_part_name(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace colibri
