// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/metadata.h"

#include <gtest/gtest.h>

#include <string>

namespace colibri::safetensors {
namespace {

colibri_value find(const Metadata& metadata, std::string_view key, uint64_t index = COLIBRI_WHOLE) {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  EXPECT_EQ(metadata.find(key, index, &value), COLIBRI_OK) << key;
  return value;
}

bool has(const Metadata& metadata, std::string_view key, uint64_t index = COLIBRI_WHOLE) {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  return metadata.find(key, index, &value) == COLIBRI_OK;
}

TEST(Metadata, ScalarsKeepTheirTypes) {
  Metadata metadata;
  ASSERT_TRUE(metadata
                  .add("c", R"({"i": -7, "f": 1e-05, "whole": 8.0, "t": true, "n": null,
                                "s": "\u9600\n", "number as text": "8"})",
                       "")
                  .ok());
  EXPECT_EQ(find(metadata, "i").kind, static_cast<uint32_t>(COLIBRI_VALUE_INT));
  EXPECT_EQ(find(metadata, "i").i, -7);
  EXPECT_EQ(find(metadata, "f").f, 1e-05);
  EXPECT_EQ(find(metadata, "whole").kind, static_cast<uint32_t>(COLIBRI_VALUE_FLOAT));
  EXPECT_EQ(find(metadata, "t").kind, static_cast<uint32_t>(COLIBRI_VALUE_BOOL));
  EXPECT_EQ(find(metadata, "t").i, 1);
  EXPECT_EQ(find(metadata, "n").kind, static_cast<uint32_t>(COLIBRI_VALUE_NONE));
  EXPECT_EQ(from_c(find(metadata, "s").s), "\xE9\x98\x80\n");
  EXPECT_EQ(find(metadata, "number as text").kind, static_cast<uint32_t>(COLIBRI_VALUE_STRING));
  EXPECT_FALSE(has(metadata, "absent"));
  EXPECT_FALSE(has(metadata, "i", 0));
}

TEST(Metadata, IntegersBeyond64BitsAreFloats) {
  Metadata metadata;
  ASSERT_TRUE(metadata
                  .add("c", R"({"a": 9223372036854775807, "b": 9223372036854775808,
                                "c": 1000000000000000019884624838656, "d": -99999999999999999999,
                                "e": -9223372036854775808})",
                       "")
                  .ok());
  EXPECT_EQ(find(metadata, "a").i, INT64_MAX);
  EXPECT_EQ(find(metadata, "b").kind, static_cast<uint32_t>(COLIBRI_VALUE_FLOAT));
  EXPECT_EQ(find(metadata, "b").f, 9223372036854775808.0);
  EXPECT_EQ(find(metadata, "c").f, 1e30);
  EXPECT_EQ(find(metadata, "d").f, -1e20);
  EXPECT_EQ(find(metadata, "e").i, INT64_MIN);
}

TEST(Metadata, ObjectsAreDottedKeysAndListsAreArrays) {
  Metadata metadata;
  ASSERT_TRUE(metadata
                  .add("c", R"({"rope": {"theta": 1e6, "factors": [1, 2.5]}, "empty": [],
                                "mixed": [7, [8, 9], {"x": 10}, null]})",
                       "p.")
                  .ok());
  EXPECT_EQ(find(metadata, "p.rope.theta").f, 1e6);
  EXPECT_FALSE(has(metadata, "p.rope"));
  EXPECT_EQ(find(metadata, "p.rope.factors").kind, static_cast<uint32_t>(COLIBRI_VALUE_ARRAY));
  EXPECT_EQ(find(metadata, "p.rope.factors").n, 2u);
  EXPECT_EQ(find(metadata, "p.rope.factors", 1).f, 2.5);
  EXPECT_FALSE(has(metadata, "p.rope.factors", 2));
  EXPECT_EQ(find(metadata, "p.empty").n, 0u);
  EXPECT_EQ(find(metadata, "p.mixed").n, 4u);
  EXPECT_EQ(find(metadata, "p.mixed", 0).i, 7);
  EXPECT_EQ(find(metadata, "p.mixed", 1).kind, static_cast<uint32_t>(COLIBRI_VALUE_ARRAY));
  EXPECT_EQ(find(metadata, "p.mixed.1", 1).i, 9);
  EXPECT_EQ(find(metadata, "p.mixed", 2).kind, static_cast<uint32_t>(COLIBRI_VALUE_NONE));
  EXPECT_EQ(find(metadata, "p.mixed.2.x").i, 10);
  ASSERT_EQ(metadata.size(), 6u);
  EXPECT_EQ(metadata.key(0), "p.rope.theta");
}

TEST(Metadata, AKeyMayStandOnlyOnce) {
  Metadata metadata;
  EXPECT_EQ(metadata.add("c", R"({"a.b": 1, "a": {"b": 2}})", "").text(), "c: 'a.b' stands twice");
}

}  // namespace
}  // namespace colibri::safetensors
