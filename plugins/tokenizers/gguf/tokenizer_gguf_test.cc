// SPDX-License-Identifier: Apache-2.0
// What a GGUF vocabulary may say and what is refused; the answers are for tests/tokenizer.
#include "plugins/tokenizers/gguf/tokenizer_gguf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "plugins/tokenizers/common/byte_level.h"
#include "tests/bad_models/gguf_file.h"

namespace colibri::tokenizers {
namespace {

using Ids = std::vector<int32_t>;
using testing::GgufFile;
using testing::le32;
using testing::le64;

enum Type : uint32_t { kBool = 7, kList = 9, kI32 = 5, kF32 = 6 };

// A list whose elements are 32 bits wide.
std::string list_of(uint32_t type, const std::vector<uint32_t>& values) {
  std::string bytes = le32(kList) + le32(type) + le64(values.size());
  for (const uint32_t value : values) bytes += le32(value);
  return bytes;
}

struct Vocabulary {
  GgufFile file;
  std::vector<std::string> tokens;
  std::vector<uint32_t> types;
  std::vector<float> scores;

  void add(const std::string& text, uint32_t type, float score = 0) {
    tokens.push_back(text);
    types.push_back(type);
    scores.push_back(score);
  }
  void flag(const std::string& key, bool value) {
    file.pairs.emplace_back(key, le32(kBool) + std::string(1, value ? '\1' : '\0'));
  }
  std::string bytes(bool with_scores) const {
    GgufFile all = file;
    all.texts("tokenizer.ggml.tokens", tokens);
    all.pairs.emplace_back("tokenizer.ggml.token_type", list_of(kI32, types));
    std::vector<uint32_t> bits(scores.size());
    for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&bits[i], &scores[i], 4);
    if (with_scores) all.pairs.emplace_back("tokenizer.ggml.scores", list_of(kF32, bits));
    return all.header();
  }
};

Vocabulary llama() {
  Vocabulary v;
  v.file.text("tokenizer.ggml.model", "llama");
  v.file.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
  v.add("<unk>", 2);
  v.add("<s>", 3);
  v.add("</s>", 3);
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(byte));
    v.add(name, 6);
  }
  v.add("\u2581", 1, -5);   // 259
  v.add("a", 1, -6);        // 260
  v.add("b", 1, -7);        // 261
  v.add("\u2581a", 1, -2);  // 262
  v.add("ab", 1, -1);       // 263
  v.add("<tool>", 4);       // 264
  v.add("<s", 1, -0.5);     // 265
  v.add("<", 1, -8);        // 266
  v.add("s", 1, -8);        // 267
  v.add(">", 1, -8);        // 268
  v.add("<unused0>", 5);    // 269
  return v;
}

Vocabulary gpt2() {
  Vocabulary v;
  v.file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "qwen2");
  v.file.u32("tokenizer.ggml.eos_token_id", 258).u32("tokenizer.ggml.eot_token_id", 257);
  v.file.texts("tokenizer.ggml.merges", {"t h"});
  for (int byte = 0; byte < 256; ++byte) {
    std::string character;
    append_byte_level(std::string(1, static_cast<char>(byte)), character);
    v.add(character, 1);
  }
  v.add("th", 1);
  v.add("<|im_end|>", 3);
  v.add("<|end|>", 3);
  return v;
}

std::unique_ptr<Tokenizer> make(const std::string& file) {
  auto made = read_tokenizer_gguf(file);
  EXPECT_TRUE(made.ok()) << made.status().text();
  return made.ok() ? std::move(*made) : nullptr;
}

Ids encode(const Tokenizer& tokenizer, std::string_view text, bool parse = true, bool add = false) {
  Ids ids;
  EXPECT_TRUE(tokenizer.encode(text, parse, add, ids).ok());
  return ids;
}

std::string refusal(const std::string& file) {
  const auto made = read_tokenizer_gguf(file);
  return made.ok() ? "" : made.status().text();
}

TEST(TokenizerGguf, Llama) {
  const auto tokenizer = make(llama().bytes(true));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, "ab", true, true), (Ids{1, 259, 263}));
  EXPECT_EQ(encode(*tokenizer, "a a"), (Ids{262, 262}));
  EXPECT_EQ(encode(*tokenizer, "\u00E9"), (Ids{259, 0xC3 + 3, 0xA9 + 3}));
  EXPECT_EQ(encode(*tokenizer, "<tool>a"), (Ids{264, 262}));
  EXPECT_EQ(encode(*tokenizer, "<s>", true), Ids{1});
  // Special tokens in a text that is not to be parsed stay text, whatever their score.
  EXPECT_EQ(encode(*tokenizer, "<s>", false), (Ids{259, 265, 268}));
  EXPECT_EQ(tokenizer->table().bytes(262), " a");
  EXPECT_EQ(tokenizer->table().bytes(269), "");
  EXPECT_TRUE(tokenizer->table().is_special(0) && tokenizer->table().is_special(2));
  EXPECT_FALSE(tokenizer->table().is_special(264));
  EXPECT_EQ(tokenizer->role("eos"), Ids{2});
}

TEST(TokenizerGguf, LlamaFlags) {
  Vocabulary v = llama();
  v.flag("tokenizer.ggml.add_space_prefix", false);
  v.flag("tokenizer.ggml.add_bos_token", false);
  v.flag("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = make(v.bytes(true));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, "ab", true, true), (Ids{263, 2}));
}

TEST(TokenizerGguf, Gpt2) {
  const auto tokenizer = make(gpt2().bytes(false));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, "th1<|im_end|>", true, true), (Ids{256, '1', 257}));
  EXPECT_EQ(tokenizer->role("eos"), (Ids{258, 257}));
  EXPECT_EQ(tokenizer->role("bos"), Ids{});
}

TEST(TokenizerGguf, EveryKnownPreTokenizerCompiles) {
  Vocabulary v = gpt2();
  v.file.pairs[1] = GgufFile().text("tokenizer.ggml.pre", "nothing").pairs[0];
  const std::string text = refusal(v.bytes(false));
  EXPECT_TRUE(text.starts_with(
      "tokenizer.ggml.pre: the pre-tokenizer 'nothing' is not supported; supported: gpt-2, "))
      << text;
  int names = 0;
  for (size_t at = text.find("gpt-2"); at < text.size(); ++names) {
    const size_t end = std::min(text.find(", ", at), text.size());
    const std::string name = text.substr(at, end - at);
    v.file.pairs[1] = GgufFile().text("tokenizer.ggml.pre", name).pairs[0];
    v.file.u32("tokenizer.ggml.bos_token_id", 257);
    const auto tokenizer = make(v.bytes(false));
    ASSERT_TRUE(tokenizer) << name;
    EXPECT_EQ(encode(*tokenizer, "th"), Ids{256}) << name;
    v.file.pairs.pop_back();
    at = end + 2;
  }
  EXPECT_GT(names, 30);
}

TEST(TokenizerGguf, RefusesWhatItCannotDo) {
  const auto without = [](Vocabulary v, const std::string& key) {
    std::erase_if(v.file.pairs, [&](const auto& pair) { return pair.first == key; });
    return v;
  };
  Vocabulary v = llama();
  v.file.pairs[0] = GgufFile().text("tokenizer.ggml.model", "rwkv").pairs[0];
  EXPECT_EQ(refusal(v.bytes(true)),
            "tokenizer.ggml.model: 'rwkv' is not supported; supported: gpt2, llama");
  EXPECT_EQ(refusal(llama().bytes(false)), "tokenizer.ggml.scores: missing; \"llama\" needs them");
  EXPECT_EQ(refusal(without(llama(), "tokenizer.ggml.bos_token_id").bytes(true)),
            "tokenizer.ggml.add_bos_token needs tokenizer.ggml.bos_token_id");
  v = llama();
  v.types[20] = 1;
  EXPECT_EQ(refusal(v.bytes(true)),
            "a \"llama\" vocabulary with 255 of the 256 byte tokens is not supported");
  v = llama();
  v.types[260] = 6;
  EXPECT_EQ(refusal(v.bytes(true)),
            "tokenizer.ggml.tokens[260]: a byte token must be <0x00> to <0xFF>, not 'a'");
  v = llama();
  v.tokens[260] = "b";
  EXPECT_EQ(refusal(v.bytes(true)), "tokenizer.ggml.tokens: the token 'b' stands there twice");
  v = llama();
  v.tokens[260] = "\xFF";
  EXPECT_EQ(refusal(v.bytes(true)), "tokenizer.ggml.tokens[260]: not UTF-8");
  v = llama();
  v.types[260] = 7;
  EXPECT_EQ(refusal(v.bytes(true)),
            "tokenizer.ggml.token_type: expected whole numbers from 0 to 6");
  v = llama();
  v.types.pop_back();
  EXPECT_EQ(refusal(v.bytes(true)),
            "tokenizer.ggml.token_type: expected 270 types, one for each token");
  v = llama();
  v.scores[260] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refusal(v.bytes(true)), "tokenizer.ggml.scores: expected numbers");
  v = llama();
  v.file.u32("tokenizer.ggml.padding_token_id", 270);
  EXPECT_EQ(refusal(v.bytes(true)), "tokenizer.ggml.padding_token_id: expected an id below 270");
  v = llama();
  v.file.u32("tokenizer.ggml.add_bos_token", 1);
  EXPECT_EQ(refusal(v.bytes(true)), "tokenizer.ggml.add_bos_token: expected true or false");
  EXPECT_EQ(refusal(without(gpt2(), "tokenizer.ggml.pre").bytes(false)),
            "tokenizer.ggml.pre: missing; without its name the pre-tokenizer is not known. Convert "
            "the model anew");
  EXPECT_EQ(refusal(without(gpt2(), "tokenizer.ggml.merges").bytes(false)),
            "tokenizer.ggml.merges: missing or empty");
  v = without(gpt2(), "tokenizer.ggml.merges");
  v.file.texts("tokenizer.ggml.merges", {"t h", "th"});
  EXPECT_EQ(refusal(v.bytes(false)),
            "tokenizer.ggml.merges[1]: expected two tokens and one space between them");
  v = without(gpt2(), "tokenizer.ggml.merges");
  v.file.texts("tokenizer.ggml.merges", {"h t"});
  EXPECT_EQ(refusal(v.bytes(false)),
            "tokenizer.ggml.merges[0]: the token 'ht' is not in the vocabulary");
  EXPECT_EQ(refusal(GgufFile().text("tokenizer.ggml.model", "gpt2").header()),
            "tokenizer.ggml.tokens: missing or empty");
  EXPECT_NE(refusal("GGUF"), "");
  EXPECT_NE(refusal(""), "");
}

}  // namespace
}  // namespace colibri::tokenizers
