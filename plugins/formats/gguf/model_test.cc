// SPDX-License-Identifier: Apache-2.0
// Sound models. What is refused, and in which words: tests/bad_models.
#include "plugins/formats/gguf/model.h"

#include <gtest/gtest.h>

#include "tests/bad_models/gguf_file.h"
#include "tests/fuzz/memory_files.h"

namespace colibri::gguf {
namespace {

using fuzz::MemoryFiles;
using testing::GgufFile;
using testing::le32;

TEST(GgufModel, DescribesTensors) {
  GgufFile file;
  file.alignment = 64;
  file.u32("general.alignment", 64).tensor("a", {3}).tensor("b", {32, 4, 2});
  file.tensors[1].type = 12;  // q4_K
  file.tensors[1].extents = {256, 4, 2};
  file.tensors[1].bytes = 8 * 144;
  for (const uint32_t version : {2u, 3u}) {
    file.version = version;
    const std::string bytes = file.bytes();
    const MemoryFiles files({{"any name", bytes}});
    EXPECT_TRUE(Model::accepts(files.table()).ok());
    const auto model = Model::open(files.table());
    ASSERT_TRUE(model.ok()) << model.status().text();
    const std::vector<Tensor>& tensors = (*model)->tensors();
    ASSERT_EQ(tensors.size(), 2u);
    EXPECT_EQ(tensors[0].name, "a");
    EXPECT_EQ(tensors[0].rank, 1u);
    EXPECT_EQ(tensors[1].codec, static_cast<uint32_t>(COLIBRI_CODEC_Q4_K));
    EXPECT_EQ(tensors[1].shape, (std::array<int64_t, 4>{2, 4, 256, 0}));  // outermost first
    EXPECT_EQ(tensors[1].begin % 64, 0u);
    EXPECT_EQ(tensors[1].begin - tensors[0].begin, 64u);
    EXPECT_EQ(tensors[1].end, bytes.size());
  }
}

GgufFile part(uint32_t number, uint32_t count) {
  GgufFile file;
  file.pairs = {{"split.no", le32(2) + std::string({static_cast<char>(number), 0})},
                {"split.count", le32(2) + std::string({static_cast<char>(count), 0})}};
  return file;
}

TEST(GgufModel, JoinsParts) {
  const std::string first = part(0, 2).u32("split.tensors.count", 2).tensor("a", {4}).bytes();
  const std::string second = part(1, 2).tensor("b", {2, 2}).bytes();
  const MemoryFiles files(
      {{"m-00001-of-00002.gguf", first}, {"m-00002-of-00002.gguf", second}, {"notes.txt", "x"}});
  const auto model = Model::open(files.table());
  ASSERT_TRUE(model.ok()) << model.status().text();
  ASSERT_EQ((*model)->tensors().size(), 2u);
  EXPECT_EQ((*model)->tensors()[1].name, "b");
  EXPECT_EQ((*model)->tensors()[1].file, 1u);
  EXPECT_EQ((*model)->tensors()[1].end, second.size());
}

TEST(GgufModel, AHeaderLongerThanTheFirstRead) {
  GgufFile file;
  file.texts("tokenizer.ggml.tokens", std::vector<std::string>(50'000, std::string(20, 'x')))
      .u32("behind", 7)
      .tensor("a", {4});
  const std::string bytes = file.bytes();
  ASSERT_GT(bytes.size(), 1u << 20);
  const MemoryFiles files({{"m.gguf", bytes}});
  const auto model = Model::open(files.table());
  ASSERT_TRUE(model.ok()) << model.status().text();
  colibri_value value = {};
  EXPECT_EQ((*model)->metadata().find("behind", COLIBRI_WHOLE, &value), COLIBRI_OK);
  EXPECT_EQ(value.i, 7);
  EXPECT_EQ((*model)->tensors()[0].end, bytes.size());
}

TEST(GgufModel, ResourcesAreMadeOfTheTokenizersKeys) {
  GgufFile file;
  file.text("general.architecture", "llama")
      .texts("tokenizer.ggml.tokens", {"<s>", "a"})
      .text("tokenizer.chat_template", "{{ x }}");
  const std::string bytes = file.bytes();
  const MemoryFiles files({{"m.gguf", bytes}});
  const auto model = Model::open(files.table());
  ASSERT_TRUE(model.ok()) << model.status().text();
  EXPECT_EQ(*(*model)->resource("chat_template.jinja"), "{{ x }}");
  const auto resource = (*model)->resource("tokenizer.gguf");
  ASSERT_TRUE(resource.ok());
  const auto tokenizer = Metadata::read_file(*resource);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().text();
  ASSERT_EQ(tokenizer->size(), 2u);
  colibri_value value = {};
  EXPECT_EQ(tokenizer->find("tokenizer.ggml.tokens", 1, &value), COLIBRI_OK);
  EXPECT_EQ(from_c(value.s), "a");
  EXPECT_EQ((*model)->resource("tokenizer.gguf")->data(), resource->data());  // kept
  EXPECT_EQ((*model)->resource("tokenizer.json").status().code(), COLIBRI_NOT_FOUND);
}

TEST(GgufModel, AModelWithoutTokenizerHasNoResources) {
  for (const GgufFile& file :
       {GgufFile().u32("a", 1), GgufFile().text("tokenizer.ggml.model", "none")}) {
    const std::string bytes = file.bytes();
    const MemoryFiles files({{"m.gguf", bytes}});
    const auto model = Model::open(files.table());
    ASSERT_TRUE(model.ok()) << model.status().text();
    EXPECT_EQ((*model)->resource("tokenizer.gguf").status().code(), COLIBRI_NOT_FOUND);
    EXPECT_EQ((*model)->resource("chat_template.jinja").status().code(), COLIBRI_NOT_FOUND);
  }
}

}  // namespace
}  // namespace colibri::gguf
