// SPDX-License-Identifier: Apache-2.0
// Sound checkpoints. What is refused, and in which words: tests/bad_models.
#include "plugins/formats/safetensors/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/bad_models/tiny_model.h"
#include "tests/fuzz/memory_files.h"

namespace colibri::safetensors {
namespace {

using fuzz::MemoryFiles;
using ::testing::ElementsAre;

TEST(Checkpoint, ReadsASingleFile) {
  const std::string weights = testing::safetensors_file(
      R"({"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},"a":{"data_offsets":[0,4],)"
      R"("shape":[],"dtype":"F32"}}   )",
      std::string(16, '\0'));
  const MemoryFiles files({{"config.json", "{}"}, {"model.safetensors", weights}});
  EXPECT_TRUE(Checkpoint::accepts(files.table()).ok());
  const auto checkpoint = Checkpoint::open(files.table());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().text();
  const std::vector<Tensor>& tensors = (*checkpoint)->tensors();
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].name, "a");  // in the order of the data
  EXPECT_EQ(tensors[0].rank, 0u);
  EXPECT_EQ(tensors[1].codec, static_cast<uint32_t>(COLIBRI_CODEC_BF16));
  EXPECT_EQ(tensors[1].rank, 2u);
  EXPECT_EQ(tensors[1].shape[1], 3);
  EXPECT_EQ(tensors[1].file, 1u);
  EXPECT_EQ(tensors[1].end, weights.size());
  EXPECT_EQ(tensors[1].begin, weights.size() - 12);
}

TEST(Checkpoint, KnowsEveryDataType) {
  const std::map<std::string, uint32_t> types = {
      {"F32", COLIBRI_CODEC_F32},         {"F16", COLIBRI_CODEC_F16},
      {"BF16", COLIBRI_CODEC_BF16},       {"F64", COLIBRI_CODEC_F64},
      {"I8", COLIBRI_CODEC_I8},           {"I16", COLIBRI_CODEC_I16},
      {"I32", COLIBRI_CODEC_I32},         {"I64", COLIBRI_CODEC_I64},
      {"U8", COLIBRI_CODEC_U8},           {"U16", COLIBRI_CODEC_U16},
      {"U32", COLIBRI_CODEC_U32},         {"U64", COLIBRI_CODEC_U64},
      {"BOOL", COLIBRI_CODEC_BOOL},       {"F8_E4M3", COLIBRI_CODEC_F8_E4M3},
      {"F8_E5M2", COLIBRI_CODEC_F8_E5M2},
  };
  for (const auto& [name, codec] : types) {
    const std::string weights = testing::safetensors_file(
        R"({"a":{"dtype":")" + name + R"(","shape":[0],"data_offsets":[0,0]}})", "");
    const MemoryFiles files({{"config.json", "{}"}, {"model.safetensors", weights}});
    const auto checkpoint = Checkpoint::open(files.table());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().text();
    EXPECT_EQ((*checkpoint)->tensors()[0].codec, codec) << name;
  }
}

TEST(Checkpoint, ReadsShardsByTheirIndex) {
  const auto shard = [](const char* name) {
    const std::vector<testing::TinyTensor> tensors = {{name, {2}}};
    return testing::safetensors_file(testing::header_of(tensors), testing::data_of(tensors));
  };
  const std::string a = shard("a"), b = shard("b");
  const MemoryFiles files(
      {{"config.json", "{}"},
       {"m-1.safetensors", b},
       {"m-2.safetensors", a},
       {"model.safetensors.index.json",
        R"({"metadata": {"total_size": 16}, "weight_map": {"a": "m-2.safetensors",
            "b": "m-1.safetensors"}})"},
       {"unused.safetensors", "not a shard of this model"}});
  EXPECT_TRUE(Checkpoint::accepts(files.table()).ok());
  const auto checkpoint = Checkpoint::open(files.table());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().text();
  ASSERT_EQ((*checkpoint)->tensors().size(), 2u);
  EXPECT_EQ((*checkpoint)->tensors()[0].name, "b");
  EXPECT_EQ((*checkpoint)->tensors()[0].file, 1u);
  EXPECT_EQ((*checkpoint)->tensors()[1].file, 2u);
}

TEST(Checkpoint, OffersMetadataAndFiles) {
  const std::string weights = testing::safetensors_file("{}", "");
  const MemoryFiles files({{"config.json", R"({"a": 1})"},
                           {"generation_config.json", R"({"a": 2})"},
                           {"model.safetensors", weights},
                           {"tokenizer.json", "{tokens}"},
                           {"tokenizer_config.json", R"({"a": 3})"}});
  const auto checkpoint = Checkpoint::open(files.table());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().text();
  const Metadata& metadata = (*checkpoint)->metadata();
  std::vector<std::string_view> keys;
  for (size_t i = 0; i < metadata.size(); ++i) keys.push_back(metadata.key(i));
  EXPECT_THAT(keys, ElementsAre("a", "generation_config.a", "tokenizer_config.a"));
  const auto tokenizer = (*checkpoint)->resource("tokenizer.json");
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(*tokenizer, "{tokens}");
  EXPECT_EQ((*checkpoint)->resource("tokenizer.json")->data(), tokenizer->data());  // kept
  EXPECT_EQ((*checkpoint)->resource("chat_template.jinja").status().code(), COLIBRI_NOT_FOUND);
}

}  // namespace
}  // namespace colibri::safetensors
