// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/tiktoken/tokenizer_ranks.h"

#include <gtest/gtest.h>

#include "plugins/tokenizers/tiktoken/rank_file.h"

namespace colibri::tokenizers {
namespace {

using Ids = std::vector<int32_t>;

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = (bits << 8) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[(bits >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return text;
}

// The ids 0 to 255 are the bytes, 256 "he", 257 "th", 258 "the", 259 " the".
std::string small_ranks() {
  std::string file;
  int rank = 0;
  for (int byte = 0; byte < 256; ++byte) {
    file += base64(std::string(1, static_cast<char>(byte))) + " " + std::to_string(rank++) + "\n";
  }
  for (const char* token : {"he", "th", "the", " the"}) {
    file += base64(token) + " " + std::to_string(rank++) + "\n";
  }
  return file;
}

std::unique_ptr<Tokenizer> make(std::string_view config) {
  auto made = read_tokenizer_ranks(small_ranks(), config);
  EXPECT_TRUE(made.ok()) << made.status().text();
  return made.ok() ? std::move(*made) : nullptr;
}

Ids encode(const Tokenizer& tokenizer, std::string_view text, bool parse = true, bool add = false) {
  Ids ids;
  EXPECT_TRUE(tokenizer.encode(text, parse, add, ids).ok());
  return ids;
}

std::string refusal(std::string_view ranks, std::string_view config) {
  const auto made = read_tokenizer_ranks(ranks, config);
  return made.ok() ? "" : made.status().text();
}

TEST(TokenizerRanks, LowestRankFirst) {
  const auto tokenizer = make(R"({"tokenizer_class": "QWenTokenizer"})");
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, "the the"), (Ids{258, 259}));
  EXPECT_EQ(encode(*tokenizer, "thex"), (Ids{258, 'x'}));  // he, then the
  EXPECT_EQ(encode(*tokenizer, "thx"), (Ids{257, 'x'}));
  EXPECT_EQ(encode(*tokenizer, "e\u0301"), (Ids{0xC3, 0xA9}));  // NFC
  EXPECT_EQ(encode(*tokenizer, "<|im_start|>"), Ids{261});
  EXPECT_EQ(encode(*tokenizer, "<|extra_204|>"), Ids{467});
  EXPECT_EQ(encode(*tokenizer, "<|im_start|>", false).size(), 12u);
  EXPECT_EQ(tokenizer->table().ids(), 468);
  EXPECT_EQ(tokenizer->table().bytes(259), " the");
}

TEST(TokenizerRanks, NamedAndReservedTokens) {
  const auto tokenizer = make(R"({"tokenizer_class": "TikTokenTokenizer", "bos_token": "[BOS]",
      "added_tokens_decoder": {"260": {"content": "[BOS]", "lstrip": false, "normalized": false,
      "rstrip": false, "single_word": false, "special": true}}})");
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, "[BOS]<|reserved_token_261|>"), (Ids{260, 261}));
  EXPECT_EQ(tokenizer->role("bos"), Ids{260});
  EXPECT_EQ(tokenizer->table().ids(), 516);
  EXPECT_EQ(encode(*tokenizer, "e\u0301"), (Ids{'e', 0xCC, 0x81}));
}

TEST(TokenizerRanks, RefusesByName) {
  const std::string ranks = small_ranks();
  const std::string qwen = R"({"tokenizer_class": "QWenTokenizer"})";
  EXPECT_EQ(refusal(ranks, ""),
            "a file of token ranks needs a tokenizer_config.json that names its class");
  EXPECT_EQ(refusal(ranks, "{}"),
            "tokenizer_config.json: tokenizer_class: missing; token ranks alone do not tell the "
            "pattern");
  EXPECT_EQ(refusal(ranks, R"({"tokenizer_class": "OtherTokenizer"})"),
            "tokenizer_config.json: tokenizer_class: 'OtherTokenizer' is not supported for a file "
            "of token ranks; supported: TikTokenTokenizer, QWenTokenizer, ChatGLM4Tokenizer");
  EXPECT_EQ(refusal(ranks, R"({"tokenizer_class": "ChatGLM4Tokenizer"})"),
            "tokenizer_config.json: added_tokens_decoder: no '[gMASK]'");
  EXPECT_EQ(refusal(ranks, R"({"tokenizer_class": "QWenTokenizer", "eos_token": "<x>"})"),
            "tokenizer_config.json: eos_token '<x>' is no special token");
  const std::string file = "the file of token ranks: ";
  EXPECT_EQ(refusal(ranks + "dGhl 3\n", qwen), file + "line 261: the rank 3 comes twice");
  EXPECT_EQ(refusal(ranks + "dGhh 300\n", qwen),
            file + "the ranks of 261 tokens end at 301; they must not leave gaps");
  EXPECT_EQ(refusal("IQ== 0\n", qwen), file + "not all of the 256 single bytes are tokens");
  for (const std::string line :
       {"dGhl", "dGh! 260", "dGhl -1", "dGhl 2x", "dGhl 4194304", "a=== 260"}) {
    EXPECT_EQ(refusal(ranks + line, qwen),
              file + "line 261: expected a token in base64 and its rank, not '" + line + "'");
  }
  EXPECT_EQ(refusal(ranks + "dGhl 260\n", qwen), "the token 'the' stands there twice");
}

TEST(RankFile, IsKnownByItsFirstLine) {
  EXPECT_TRUE(is_rank_file("IQ== 0\nIg== 1\n"));
  EXPECT_TRUE(is_rank_file("IQ== 0\r\n"));
  EXPECT_FALSE(is_rank_file(""));
  EXPECT_FALSE(is_rank_file("\x0A\x0E\x0A\x05<unk>"));
  EXPECT_FALSE(is_rank_file("{}"));
}

}  // namespace
}  // namespace colibri::tokenizers
