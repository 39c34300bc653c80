// SPDX-License-Identifier: Apache-2.0
// What a SentencePiece model may say and what is refused; the answers are for tests/tokenizer.
#include "plugins/tokenizers/sentencepiece/tokenizer_model.h"

#include <gtest/gtest.h>

#include <limits>

#include "plugins/tokenizers/sentencepiece/test_model.h"

namespace colibri::tokenizers {
namespace {

using Ids = std::vector<int32_t>;

std::unique_ptr<ModelTokenizer> make(const SmallModel& model, std::string_view config = {}) {
  auto made = ModelTokenizer::read(model.bytes(), config);
  EXPECT_TRUE(made.ok()) << made.status().text();
  return made.ok() ? std::move(*made) : nullptr;
}

Ids encode(const ModelTokenizer& tokenizer, std::string_view text, bool parse = true,
           bool add = false) {
  Ids ids;
  EXPECT_TRUE(tokenizer.encode(text, parse, add, ids).ok());
  return ids;
}

std::string refusal(const std::string& bytes, std::string_view config = {}) {
  const auto made = ModelTokenizer::read(bytes, config);
  return made.ok() ? "" : made.status().text();
}

TEST(ModelTokenizer, EncodesAndKnowsItsTokens) {
  const auto tokenizer = make(SmallModel());
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, "ab a", true, true), (Ids{1, 3, 7, 6}));
  EXPECT_EQ(encode(*tokenizer, "a</s>a"), (Ids{6, 2, 6}));
  EXPECT_EQ(encode(*tokenizer, "a</s>", false), (Ids{6, 0}));  // a run of unknown characters
  EXPECT_EQ(encode(*tokenizer, "a<u>b"), (Ids{6, 8, 5}));      // no space behind it
  EXPECT_EQ(encode(*tokenizer, "", true, true), Ids{1});
  EXPECT_EQ(tokenizer->role("bos"), Ids{1});
  EXPECT_EQ(tokenizer->role("eos"), Ids{2});
  EXPECT_EQ(tokenizer->role("unk"), Ids{0});
  EXPECT_EQ(tokenizer->role("pad"), Ids{});
  EXPECT_EQ(tokenizer->table().bytes(6), " a");
  EXPECT_TRUE(tokenizer->table().is_special(1) && !tokenizer->table().is_special(8));
  EXPECT_EQ(tokenizer->id("<u>"), 8);
  EXPECT_EQ(tokenizer->id("nothing"), -1);
}

TEST(ModelTokenizer, TheConfigurationOfTheCheckpoint) {
  auto tokenizer = make(SmallModel(), R"({"legacy": false, "add_bos_token": false,
      "add_eos_token": true, "pad_token": "<pad>", "added_tokens_decoder": {"9": {
      "content": "<pad>", "lstrip": false, "normalized": false, "rstrip": false,
      "single_word": false, "special": true}}})");
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, "a<pad>a", true, true), (Ids{6, 9, 4, 2}));  // no second space
  EXPECT_EQ(tokenizer->role("pad"), Ids{9});
  EXPECT_EQ(tokenizer->table().ids(), 10);
  EXPECT_EQ(refusal(SmallModel().bytes(), R"({"bos_token": "<x>"})"),
            "tokenizer_config.json: bos_token '<x>' is no token of tokenizer.model");
  SmallModel model;
  model.pieces[1].text = "<bos>";
  EXPECT_EQ(refusal(model.bytes(), R"({"add_bos_token": true})"),
            "tokenizer_config.json: add_bos_token needs a bos_token");
  model.trainer += wire_bytes(46, "<bos>");
  EXPECT_EQ(encode(*make(model), "a", true, true), (Ids{1, 6}));
}

TEST(ModelTokenizer, RefusesByName) {
  const auto trainer = [](const std::string& more) {
    SmallModel model;
    model.trainer += more;
    return refusal(model.bytes());
  };
  const auto normalizer = [](const std::string& more) {
    SmallModel model;
    model.normalizer += more;
    return refusal(model.bytes());
  };
  const std::string file = "tokenizer.model: ";
  EXPECT_EQ(trainer(wire_number(3, 3)),
            file + "trainer_spec: model_type word is not supported; supported: unigram, bpe");
  EXPECT_EQ(trainer(wire_number(3, 4)),
            file + "trainer_spec: model_type char is not supported; supported: unigram, bpe");
  EXPECT_EQ(trainer(wire_number(3, 9)),
            file + "trainer_spec: model_type 9 is not supported; supported: unigram, bpe");
  EXPECT_EQ(trainer(wire_number(24, 1)),
            file + "trainer_spec: treat_whitespace_as_suffix is not supported");
  EXPECT_EQ(trainer(wire_bytes(3, "x")), file + "trainer_spec: model_type has the wrong wire type");
  EXPECT_EQ(normalizer(wire_number(5, 0)),
            file + "normalizer_spec: escape_whitespaces: false is not supported");
  EXPECT_EQ(normalizer(wire_bytes(2, "xyz")),
            file + "normalizer_spec: precompiled_charsmap is broken");
  SmallModel model;
  model.rest = wire_bytes(5, wire_bytes(2, "x"));
  EXPECT_EQ(refusal(model.bytes()), file + "denormalizer_spec: a character map is not supported");
}

TEST(ModelTokenizer, RefusesUnsoundPieces) {
  const auto piece = [](size_t i, const std::string& text, float score, TokenType type) {
    SmallModel model;
    model.pieces[i] = {text, score, type};
    return refusal(model.bytes());
  };
  const std::string file = "tokenizer.model: ";
  constexpr TokenType kNormal = TokenType::kNormal;
  EXPECT_EQ(piece(4, "", 0, kNormal), file + "piece 4: a piece without text");
  EXPECT_EQ(piece(4, "b", 0, kNormal), file + "the piece 'b' stands there twice");
  EXPECT_EQ(piece(4, "\xFF", 0, kNormal), file + "piece 4: a piece that is not UTF-8 without NUL");
  EXPECT_EQ(piece(4, std::string("a\0b", 3), 0, kNormal),
            file + "piece 4: a piece that is not UTF-8 without NUL");
  EXPECT_EQ(piece(4, std::string(5000, 'x'), 0, kNormal),
            file + "piece 4: a piece longer than 4096 bytes");
  EXPECT_EQ(piece(4, "a", std::numeric_limits<float>::infinity(), kNormal),
            file + "piece 4: a score that is no finite number");
  EXPECT_EQ(piece(4, "a", 0, static_cast<TokenType>(7)),
            file + "piece 4: type 7 is none of 1 to 6");
  EXPECT_EQ(piece(4, "a", 0, TokenType::kUnknown), file + "expected one unknown piece, not 2");
  EXPECT_EQ(piece(0, "x", 0, kNormal), file + "expected one unknown piece, not 0");
  EXPECT_EQ(piece(4, "a", 0, TokenType::kByte),
            file + "a byte piece must be <0x00> to <0xFF>, not 'a'");
  EXPECT_EQ(piece(4, "<0x41>", 0, TokenType::kByte),
            file + "expected 256 byte pieces or none, not 1");
}

TEST(ModelTokenizer, RefusesBrokenMessages) {
  const std::string whole = SmallModel().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto made = ModelTokenizer::read(whole.substr(0, size), {});
    // Cut between two fields it may still be a model, a unigram one.
    if (made.ok()) continue;
    EXPECT_TRUE(made.status().text().starts_with("tokenizer.model: ")) << made.status().text();
  }
  const std::string file = "tokenizer.model: ";
  EXPECT_EQ(refusal("\x0A\x05"
                    "ab"),
            file + "it ends in the middle of a field");
  EXPECT_EQ(refusal("\x0A"), file + "it ends in the middle of a number");
  EXPECT_EQ(refusal(std::string(11, '\xFF')), file + "a number of more than 64 bits");
  EXPECT_EQ(refusal("\x0B"), file + "a field of the type 3");
  EXPECT_EQ(refusal(std::string("\0", 1)), file + "a field without a number");
  EXPECT_EQ(refusal("\x08\x01"), file + "a part of the model has the wrong wire type");
  EXPECT_EQ(refusal(""), file + "expected one unknown piece, not 0");
}

}  // namespace
}  // namespace colibri::tokenizers
