// SPDX-License-Identifier: Apache-2.0
// The C table of the plugin.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "plugins/tokenizers/bpe/test_file.h"
#include "tests/tokenizer/plugin_tokenizer.h"

namespace colibri::tokenizers {
namespace {

using colibri::testing::PluginTokenizer;
using Ids = std::vector<int32_t>;

PluginTokenizer small() {
  auto made = PluginTokenizer::create(colibri_plugin_v1(), small_tokenizer().dump());
  EXPECT_TRUE(made.ok()) << made.status().text();
  return std::move(*made);
}

std::string why_not(const char* name, const nlohmann::json& file) {
  const auto* table = static_cast<const colibri_tokenizer_1*>(
      colibri_plugin_v1()->get_interface("colibri.tokenizer/1"));
  const std::string bytes = file.is_string() ? file.get<std::string>() : file.dump();
  const colibri_resource resource = {sizeof(resource), to_c(name), to_c(bytes)};
  char text[128] = "yes";
  return table->accepts(&resource, 1, text) == 1 ? "" : text;
}

TEST(Plugin, AcceptsByContent) {
  nlohmann::json file = small_tokenizer();
  EXPECT_EQ(why_not("tokenizer.json", file), "");
  EXPECT_EQ(why_not("tokenizer.model", file), "there is no tokenizer.json");
  const std::string cut = why_not("tokenizer.json", "{");
  EXPECT_TRUE(cut.starts_with("tokenizer.json: not valid JSON")) << cut;
  EXPECT_EQ(cut.size(), 127u);
  file["model"]["type"] = "Unigram";
  EXPECT_EQ(why_not("tokenizer.json", file), "the model is 'Unigram', not BPE");
  file["model"].erase("type");
  file["model"].erase("merges");
  EXPECT_EQ(why_not("tokenizer.json", file), "the model has no merges");
  file.erase("model");
  EXPECT_EQ(why_not("tokenizer.json", file), "tokenizer.json has no model");
}

TEST(Plugin, RefusesWithoutAFile) {
  EXPECT_EQ(PluginTokenizer::create(colibri_plugin_v1(), "").status().text(),
            "tokenizer.json is missing or empty");
}

TEST(Plugin, EncodeSaysHowManyAndWritesWhatFits) {
  const PluginTokenizer tokenizer = small();
  int32_t ids[3] = {-7, -7, -7};
  size_t n = 0;
  ASSERT_EQ(tokenizer.table().encode(tokenizer.get(), to_c("abc"), 0, ids, 2, &n, nullptr),
            COLIBRI_OK);
  EXPECT_EQ(n, 3u);
  EXPECT_EQ(ids[1], 'b');
  EXPECT_EQ(ids[2], -7);
  ASSERT_EQ(tokenizer.table().encode(tokenizer.get(), to_c("abc"), 0, nullptr, 0, &n, nullptr),
            COLIBRI_OK);
  EXPECT_EQ(n, 3u);
}

TEST(Plugin, EncodeRefusesBrokenTextAndUnknownFlags) {
  const PluginTokenizer tokenizer = small();
  EXPECT_EQ(tokenizer.encode("ab\xC3", 0).status().text(), "the text is not UTF-8 at byte 2");
  EXPECT_EQ(tokenizer.encode("ab", 4).status().text(), "unknown flags of encode");
}

TEST(Plugin, DecodesHalfCharactersWhenTheyAreWhole) {
  const PluginTokenizer tokenizer = small();
  EXPECT_EQ(tokenizer.decode({0xE4, 0xB8, 0xAD, 258, 'a'}, true), "\u4E2Da");
  EXPECT_EQ(tokenizer.decode({0xE4, 0xB8, 258}, false), "\uFFFD<s>");
  EXPECT_EQ(tokenizer.decode({0xE4, 0xB8}, false), "\uFFFD");
  EXPECT_EQ(tokenizer.decode({-1, 'a', 1 << 30}, false), "a");
}

TEST(Plugin, TextThatDoesNotFitLeavesTheStateAsItWas) {
  const PluginTokenizer tokenizer = small();
  std::vector<std::byte> state(tokenizer.table().decode_state_bytes(tokenizer.get()));
  char text[4] = {'?', '?', '?', '?'};
  size_t n = 0;
  const auto next = [&](int32_t id, size_t capacity) {
    return tokenizer.table().decode_next(tokenizer.get(), state.data(), id, 0, text, capacity, &n);
  };
  ASSERT_EQ(next(0xC3, 0), COLIBRI_OK);
  EXPECT_EQ(n, 0u);
  EXPECT_EQ(next(0xA9, 1), COLIBRI_OUT_OF_MEMORY);
  EXPECT_EQ(n, 2u);
  EXPECT_EQ(text[1], '?');
  EXPECT_EQ(next(0xA9, 2), COLIBRI_OK);
  EXPECT_EQ(std::string(text, n), "\u00E9");
}

TEST(Plugin, SpecialWritesOneIdAtMost) {
  auto made = PluginTokenizer::create(colibri_plugin_v1(), small_tokenizer().dump(),
                                      R"({"eos_token": "</s>"})");
  ASSERT_TRUE(made.ok());
  int32_t id = -1;
  size_t n = 9;
  EXPECT_EQ(made->table().special(made->get(), to_c("eos"), &id, 1, &n), COLIBRI_OK);
  EXPECT_EQ(n, 1u);
  EXPECT_EQ(id, 259);
  EXPECT_EQ(made->table().special(made->get(), to_c("eos"), nullptr, 0, &n), COLIBRI_OK);
  EXPECT_EQ(n, 1u);
  EXPECT_EQ(made->table().special(made->get(), to_c("bos"), &id, 1, &n), COLIBRI_OK);
  EXPECT_EQ(n, 0u);
}

TEST(Plugin, ThreadsMayShareATokenizer) {
  const PluginTokenizer tokenizer = small();
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "the <s>weather " + std::to_string(i);
  const auto expected = tokenizer.encode(text, COLIBRI_ENCODE_PARSE_SPECIAL);
  std::vector<std::thread> threads;
  std::vector<int> same(4);
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto ids = tokenizer.encode(text, COLIBRI_ENCODE_PARSE_SPECIAL);
      same[t] = ids.ok() && *ids == *expected && tokenizer.decode(*ids, false) == text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace colibri::tokenizers
