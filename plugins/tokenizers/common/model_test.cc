// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/model.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

namespace colibri::tokenizers {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

Result<Model> read(const json& value) {
  static simdjson::dom::parser parser;  // the model copies what it keeps
  const std::string text = value.dump();
  COLIBRI_ASSIGN(const Value root, parse_json(parser, text, "model"));
  return Model::read(root);
}

json small_model() {
  return {{"type", "BPE"},
          {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"bc", 4}, {"abc", 5}, {"?", 9}}},
          {"merges", {"b c", "a b", "a bc", "ab c"}}};
}

Ids encode(const Model& model, std::string_view piece) {
  MergeMemory memory;
  Ids ids;
  const Status status = model.encode(piece, memory, ids);
  EXPECT_TRUE(status.ok()) << status.text();
  return ids;
}

std::string refusal(const json& value) {
  const Result<Model> model = read(value);
  return model.ok() ? "" : model.status().text();
}

TEST(Model, MergesByRank) {
  const Result<Model> model = read(small_model());
  ASSERT_TRUE(model.ok()) << model.status().text();
  EXPECT_EQ(encode(*model, "abc"), Ids{5});
  EXPECT_EQ(encode(*model, "abab"), (Ids{3, 3}));
  EXPECT_EQ(encode(*model, "cab"), (Ids{2, 3}));
  EXPECT_EQ(encode(*model, ""), Ids{});
}

TEST(Model, UnknownCharacters) {
  json value = small_model();
  EXPECT_EQ(encode(*read(value), "axxb"), Ids{3});  // they vanish
  value["unk_token"] = "?";
  EXPECT_EQ(encode(*read(value), "axxb"), (Ids{0, 9, 9, 1}));
  value["fuse_unk"] = true;
  EXPECT_EQ(encode(*read(value), "xxaxxb\u4E2Dx"), (Ids{9, 0, 9, 1, 9}));
  value["unk_token"] = "nowhere";
  const Result<Model> model = read(value);
  ASSERT_TRUE(model.ok());
  MergeMemory memory;
  Ids ids;
  EXPECT_EQ(model->encode("abx", memory, ids).text(),
            "tokenizer.json: model.unk_token 'nowhere' is not in the vocabulary, but 'x' needs it");
}

TEST(Model, UnknownCharactersAsBytes) {
  json value = small_model();
  value["byte_fallback"] = true;
  value["vocab"]["<0xE4>"] = 10;
  value["vocab"]["<0xB8>"] = 11;
  value["vocab"]["<0xAD>"] = 12;
  value["merges"].push_back("<0xB8> <0xAD>");
  value["vocab"]["<0xB8><0xAD>"] = 13;
  EXPECT_EQ(encode(*read(value), "a\u4E2Db"), (Ids{0, 10, 13, 1}));
  EXPECT_EQ(encode(*read(value), "ax\u4E2D"), (Ids{0, 10, 13}));  // x has no byte token
  value["unk_token"] = "?";
  value["fuse_unk"] = true;
  // The unknown token waits for a known character; the bytes do not.
  EXPECT_EQ(encode(*read(value), "x\u4E2Dxa"), (Ids{10, 13, 9, 0}));
}

Model of_ranks(const std::vector<std::pair<const char*, uint32_t>>& tokens, ModelOptions options) {
  std::vector<Vocabulary::Entry> entries;
  std::vector<uint32_t> ranks;
  for (const auto& [token, rank] : tokens) {
    entries.push_back({token, static_cast<int32_t>(ranks.size())});
    ranks.push_back(rank);
  }
  return Model::of_ranks(std::move(*Vocabulary::of(entries)), std::move(ranks), std::move(options));
}

TEST(Model, MergesByTheRankOfTheJointText) {
  constexpr uint32_t kNever = Model::kNeverMerged;
  ModelOptions options;
  options.byte_fallback = true;
  const Model model = of_ranks({{"a", kNever},
                                {"b", kNever},
                                {"ab", 5},
                                {"ba", 1},
                                {"bab", 7},
                                {"zb", 2},
                                {"<0x7A>", kNever},
                                {"aa", kNever}},
                               options);
  EXPECT_EQ(encode(model, "abab"), (Ids{0, 4}));  // ba, then bab
  EXPECT_EQ(encode(model, "zb"), Ids{5});         // z by itself is no token
  EXPECT_EQ(encode(model, "zz"), (Ids{6, 6}));
  EXPECT_EQ(encode(model, "aa"), (Ids{0, 0}));  // a token that merges do not make
  options.bytes = true;
  const Model bytes = of_ranks({{"\xE4", 0}, {"\xB8", 1}, {"\xB8\xAD", 3}, {"\xAD", 2}}, options);
  EXPECT_EQ(encode(bytes, "\u4E2D"), (Ids{0, 2}));
}

TEST(Model, IgnoreMergesTakesAWholeWordFirst) {
  json value = small_model();
  value["vocab"]["bab"] = 20;
  EXPECT_EQ(encode(*read(value), "bab"), (Ids{1, 3}));
  value["ignore_merges"] = true;
  EXPECT_EQ(encode(*read(value), "bab"), Ids{20});
}

TEST(Model, BothSpellingsOfMerges) {
  json value = small_model();
  value["merges"] = json::parse(R"([["b", "c"], ["a", "b"], ["a", "bc"], ["ab", "c"]])");
  EXPECT_EQ(encode(*read(value), "abcab"), (Ids{5, 3}));
  value["merges"] = {"#version: 0.2", "a b"};
  EXPECT_EQ(encode(*read(value), "abc"), (Ids{3, 2}));
}

// Merges one pair after another, looking at the whole word each time.
Ids merge_slowly(const json& value, const std::string& word) {
  std::map<std::pair<std::string, std::string>, size_t> ranks;
  for (const json& merge : value["merges"]) {
    ranks.emplace(std::pair(merge[0].get<std::string>(), merge[1].get<std::string>()),
                  ranks.size());
  }
  std::vector<std::string> symbols;
  for (const char c : word) symbols.push_back({c});
  for (;;) {
    size_t best = ranks.size();
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto rank = ranks.find({symbols[i], symbols[i + 1]});
      if (rank != ranks.end() && rank->second < best) {
        best = rank->second;
        at = i;
      }
    }
    if (best == ranks.size()) break;
    symbols[at] += symbols[at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  Ids ids;
  for (const std::string& symbol : symbols) ids.push_back(value["vocab"][symbol]);
  return ids;
}

TEST(Model, RandomVocabulariesLikeTheDefinition) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    // Each token is made by one merge only, as in every trained vocabulary.
    std::vector<std::string> words = {"a", "b", "c"};
    json value = {
        {"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}}}, {"merges", json::array()}};
    while (words.size() < 40) {
      const std::string left = words[random() % words.size()];
      const std::string right = words[random() % words.size()];
      if (value["vocab"].contains(left + right)) continue;
      value["vocab"][left + right] = words.size();
      value["merges"].push_back({left, right});
      words.push_back(left + right);
    }
    const Result<Model> model = read(value);
    ASSERT_TRUE(model.ok()) << model.status().text();
    for (int i = 0; i < 50; ++i) {
      std::string word;
      for (size_t k = random() % 30; k > 0; --k) word += "abc"[random() % 3];
      ASSERT_EQ(encode(*model, word), merge_slowly(value, word)) << word;
    }
  }
}

TEST(Model, AVeryLongWord) {
  const Result<Model> model = read(small_model());
  std::string word;
  for (int i = 0; i < 300000; ++i) word += "abc";
  EXPECT_EQ(encode(*model, word), Ids(300000, 5));
}

TEST(Model, RefusesWhatItDoesNotDo) {
  const auto with = [](const char* key, const json& what) {
    json value = small_model();
    value[key] = what;
    return value;
  };
  EXPECT_EQ(refusal(with("type", "Unigram")),
            "model: type 'Unigram' is not supported; supported: BPE");
  EXPECT_EQ(refusal(with("dropout", 0.1)),
            "model: dropout: only null is supported; dropout is for training");
  EXPECT_EQ(refusal(with("end_of_word_suffix", "</w>")),
            "model: end_of_word_suffix: only an empty one is supported");
  EXPECT_EQ(refusal(with("continuing_subword_prefix", "##")),
            "model: continuing_subword_prefix: only an empty one is supported");
  EXPECT_EQ(refusal(with("max_word", 3)), "model: unknown key 'max_word' might change the result");
  EXPECT_EQ(refusal(with("vocab", json::array())), "model: vocab: expected an object");
  EXPECT_EQ(refusal(with("vocab", {{"a", -1}})),
            "model: vocab: the id of 'a' must be a whole number from 0 to 4194303");
  EXPECT_EQ(refusal(with("vocab", {{"a", 1.5}})),
            "model: vocab: the id of 'a' must be a whole number from 0 to 4194303");
  EXPECT_EQ(refusal(with("vocab", {{"a", 4194304}})),
            "model: vocab: the id of 'a' must be a whole number from 0 to 4194303");
  EXPECT_EQ(refusal(with("vocab", {{"a", 1}, {"b", 1}})),
            "model: vocab: id 1 has two tokens, 'a' and 'b'");
  EXPECT_EQ(refusal(with("merges", "a b")), "model: merges: expected an array");
  EXPECT_EQ(refusal(with("merges", {"a b", "abc"})),
            "model: merges[1]: expected two tokens and one space between them");
  EXPECT_EQ(refusal(with("merges", {"a b c"})),
            "model: merges[0]: expected two tokens and one space between them");
  EXPECT_EQ(refusal(with("merges", json::parse(R"([["a"]])"))),
            "model: merges[0]: expected \"left right\" or [\"left\", \"right\"]");
  EXPECT_EQ(refusal(with("merges", {"a z"})),
            "model: merges[0]: the token 'z' is not in the vocabulary");
  EXPECT_EQ(refusal(with("merges", {"c a"})),
            "model: merges[0]: the token 'ca' is not in the vocabulary");
  EXPECT_EQ(refusal(with("unk_token", 3)), "model: unk_token: expected a string");
  json typeless = small_model();
  typeless.erase("type");
  EXPECT_EQ(refusal(typeless), "");  // an old file
  typeless.erase("merges");
  EXPECT_EQ(refusal(typeless), "model: expected a model of type BPE with merges");
}

TEST(Model, RefusesATokenTwice) {
  simdjson::dom::parser parser;
  const auto root = parse_json(parser, R"({"vocab": {"a": 0, "a": 1}, "merges": []})", "model");
  EXPECT_EQ(Model::read(*root).status().text(), "model: vocab: the token 'a' stands there twice");
}

}  // namespace
}  // namespace colibri::tokenizers
