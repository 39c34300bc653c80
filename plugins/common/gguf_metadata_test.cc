// SPDX-License-Identifier: Apache-2.0
// Sound metadata. What is refused, and in which words: tests/bad_models.
#include "plugins/common/gguf_metadata.h"

#include <gtest/gtest.h>

#include "tests/bad_models/gguf_file.h"

namespace colibri::gguf {
namespace {

using testing::gguf_string;
using testing::GgufFile;
using testing::le32;
using testing::le64;

colibri_value find(const Metadata& metadata, std::string_view key, uint64_t index = COLIBRI_WHOLE) {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  EXPECT_EQ(metadata.find(key, index, &value), COLIBRI_OK) << key;
  return value;
}

TEST(GgufMetadata, EveryScalarType) {
  GgufFile file;
  file.pairs = {{"u8", le32(0) + "\xff"},
                {"i8", le32(1) + "\xff"},
                {"u16", le32(2) + "\xff\xff"},
                {"i16", le32(3) + "\xfe\xff"},
                {"u32", le32(4) + le32(0xffffffff)},
                {"i32", le32(5) + le32(0xffffffff)},
                {"f32", le32(6) + le32(0x3f000000)},
                {"bool", le32(7) + "\x01"},
                {"u64", le32(10) + le64(7)},
                {"large", le32(10) + le64(uint64_t{1} << 63)},
                {"i64", le32(11) + le64(UINT64_MAX)},
                {"f64", le32(12) + le64(0x3fe0000000000000)}};
  file.text("text", "\xE9\x98\x80");
  const std::string bytes = file.bytes();
  const auto metadata = Metadata::read_file(bytes);
  ASSERT_TRUE(metadata.ok()) << metadata.status().text();
  EXPECT_EQ(find(*metadata, "u8").i, 255);
  EXPECT_EQ(find(*metadata, "i8").i, -1);
  EXPECT_EQ(find(*metadata, "u16").i, 65535);
  EXPECT_EQ(find(*metadata, "i16").i, -2);
  EXPECT_EQ(find(*metadata, "u32").i, 4294967295);
  EXPECT_EQ(find(*metadata, "i32").i, -1);
  EXPECT_EQ(find(*metadata, "f32").f, 0.5);
  EXPECT_EQ(find(*metadata, "bool").kind, static_cast<uint32_t>(COLIBRI_VALUE_BOOL));
  EXPECT_EQ(find(*metadata, "bool").i, 1);
  EXPECT_EQ(find(*metadata, "u64").i, 7);
  EXPECT_EQ(find(*metadata, "large").kind, static_cast<uint32_t>(COLIBRI_VALUE_FLOAT));
  EXPECT_EQ(find(*metadata, "large").f, 9223372036854775808.0);
  EXPECT_EQ(find(*metadata, "i64").i, -1);
  EXPECT_EQ(find(*metadata, "f64").f, 0.5);
  EXPECT_EQ(from_c(find(*metadata, "text").s), "\xE9\x98\x80");
  colibri_value value = {};
  EXPECT_EQ(metadata->find("absent", COLIBRI_WHOLE, &value), COLIBRI_NOT_FOUND);
  EXPECT_EQ(metadata->find("u8", 0, &value), COLIBRI_NOT_FOUND);
}

TEST(GgufMetadata, ListsByIndex) {
  GgufFile file;
  file.pairs = {{"i32", le32(9) + le32(5) + le64(2) + le32(7) + le32(0xffffffff)},
                {"empty", le32(9) + le32(5) + le64(0)},
                {"bools", le32(9) + le32(7) + le64(2) + std::string("\0\1", 2)}};
  // Elements may be any bytes: vocabularies hold pieces of characters.
  file.texts("texts", {"a", "", "\xff\xfe"});
  const std::string bytes = file.bytes();
  const auto metadata = Metadata::read_file(bytes);
  ASSERT_TRUE(metadata.ok()) << metadata.status().text();
  EXPECT_EQ(find(*metadata, "i32").kind, static_cast<uint32_t>(COLIBRI_VALUE_ARRAY));
  EXPECT_EQ(find(*metadata, "i32").n, 2u);
  EXPECT_EQ(find(*metadata, "i32", 1).i, -1);
  EXPECT_EQ(find(*metadata, "empty").n, 0u);
  EXPECT_EQ(find(*metadata, "bools", 1).i, 1);
  EXPECT_EQ(find(*metadata, "texts").n, 3u);
  EXPECT_EQ(from_c(find(*metadata, "texts", 0).s), "a");
  EXPECT_EQ(from_c(find(*metadata, "texts", 1).s), "");
  EXPECT_EQ(from_c(find(*metadata, "texts", 2).s), "\xff\xfe");
  colibri_value value = {};
  EXPECT_EQ(metadata->find("texts", 3, &value), COLIBRI_NOT_FOUND);
}

TEST(GgufMetadata, EveryCutIsRefused) {
  GgufFile file;
  file.text("a", "text").u32("b", 1).texts("c", {"x", "yz"});
  const std::string bytes = file.bytes();
  ASSERT_TRUE(Metadata::read_file(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of its own, so that the address sanitizer sees a read behind it.
    const std::string cut = bytes.substr(0, size);
    EXPECT_FALSE(Metadata::read_file(cut).ok()) << size;
  }
}

TEST(GgufMetadata, RawPairsMakeAFileAgain) {
  GgufFile file;
  file.text("a", "text").texts("c", {"x", "yz"});
  const std::string bytes = file.bytes();
  const auto metadata = Metadata::read_file(bytes);
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(bytes.substr(0, 24) + std::string(metadata->raw(0)) + std::string(metadata->raw(1)),
            bytes);
}

}  // namespace
}  // namespace colibri::gguf
