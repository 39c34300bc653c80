// SPDX-License-Identifier: Apache-2.0
// What a tokenizer.json may say and what is refused; that the answers are the right ones is for
// tests/tokenizer.
#include "plugins/tokenizers/bpe/tokenizer_json.h"

#include <gtest/gtest.h>

#include "plugins/tokenizers/bpe/test_file.h"

namespace colibri::tokenizers {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

std::string refusal(const json& file, const json& config = nullptr) {
  const auto made = read_tokenizer_json(file.dump(), config.is_null() ? "" : config.dump());
  return made.ok() ? "" : made.status().text();
}

std::unique_ptr<Tokenizer> make(const json& file, const json& config = nullptr) {
  auto made = read_tokenizer_json(file.dump(), config.is_null() ? "" : config.dump());
  EXPECT_TRUE(made.ok()) << made.status().text();
  return made.ok() ? std::move(*made) : nullptr;
}

Ids encode(const Tokenizer& tokenizer, std::string_view text, bool special = false,
           bool parse = true) {
  Ids ids;
  EXPECT_TRUE(tokenizer.encode(text, parse, special, ids).ok());
  return ids;
}

json with(const char* pointer, const json& value) {
  json file = small_tokenizer();
  file[json::json_pointer(pointer)] = value;
  return file;
}

TEST(Tokenizer, EncodesAndKnowsItsTokens) {
  const auto tokenizer = make(small_tokenizer());
  EXPECT_EQ(tokenizer->table().ids(), 261);
  EXPECT_EQ(encode(*tokenizer, "the t"), (Ids{257, ' ', 't'}));
  EXPECT_EQ(encode(*tokenizer, "a<s>b", true), (Ids{258, 'a', 258, 'b'}));
  EXPECT_EQ(encode(*tokenizer, "<s><tool>", false, false), (Ids{'<', 's', '>', 260}));
  EXPECT_EQ(encode(*tokenizer, "", true), Ids{258});
  EXPECT_EQ(encode(*tokenizer, "\u00E9"), (Ids{0xC3, 0xA9}));
  EXPECT_EQ(tokenizer->table().bytes(257), "the");
  EXPECT_EQ(tokenizer->table().bytes(0xC3), "\xC3");
  EXPECT_EQ(tokenizer->table().bytes(-1), "");
  EXPECT_EQ(tokenizer->table().bytes(261), "");
  EXPECT_EQ(tokenizer->id("</s>"), 259);
  EXPECT_EQ(tokenizer->id("the"), 257);
  EXPECT_EQ(tokenizer->id("nothing"), -1);
  EXPECT_TRUE(tokenizer->table().is_special(258));
  EXPECT_FALSE(tokenizer->table().is_special(260) || tokenizer->table().is_special(-1) ||
               tokenizer->table().is_special(999));
}

TEST(Tokenizer, GapsInTheVocabularyAreTokensOfNoBytes) {
  json file = with("/model/vocab/the", 300);
  file["added_tokens"] = json::array();
  file["post_processor"] = nullptr;
  const auto tokenizer = make(file);
  EXPECT_EQ(tokenizer->table().ids(), 301);
  EXPECT_EQ(encode(*tokenizer, "the"), Ids{300});
  EXPECT_EQ(tokenizer->table().bytes(280), "");
}

TEST(Tokenizer, UnsupportedComponentsAreNamed) {
  const std::pair<json, const char*> cases[] = {
      {with("/version", "2.0"), "version: only \"1.0\" is supported"},
      {with("/vocab_map", 1), "unknown key 'vocab_map' might change the result"},
      {with("/normalizer", {{"type", "NFKC"}}),
       "normalizer: type 'NFKC' is not supported; supported: Sequence, NFC, Prepend, "
       "Replace"},
      {with(
           "/normalizer",
           json::parse(
               R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]})")),
       "normalizer.normalizers[1]: type 'Lowercase' is not supported; supported: Sequence, NFC, "
       "Prepend, "
       "Replace"},
      {with("/pre_tokenizer", {{"type", "BertPreTokenizer"}}),
       "pre_tokenizer: type 'BertPreTokenizer' is not supported; supported: Sequence, Split, "
       "Digits, Punctuation, Whitespace, WhitespaceSplit, ByteLevel, Metaspace"},
      {with("/pre_tokenizer/strange", 1),
       "pre_tokenizer: unknown key 'strange' might change the result"},
      {with(
           "/pre_tokenizer",
           json::parse(
               R"({"type": "Split", "pattern": {"Regex": "\\bx"}, "behavior": "Isolated", "invert": false})")),
       "pre_tokenizer.pattern.Regex: the pattern '\\bx' has an unknown escape at byte 2, which "
       "this plugin "
       "cannot match exactly"},
      {with(
           "/pre_tokenizer",
           json::parse(
               R"({"type": "Split", "pattern": {"Regex": "\\p{Nothing}"}, "behavior": "Isolated", "invert": false})")),
       "pre_tokenizer: the pattern '\\p{Nothing}' cannot be compiled: unknown property after \\P "
       "or \\p"},
      {with(
           "/pre_tokenizer",
           json::parse(
               R"({"type": "Split", "pattern": {"String": "x"}, "behavior": "Kept", "invert": false})")),
       "pre_tokenizer.behavior: behavior 'Kept' is none of Removed, Isolated, MergedWithPrevious, "
       "MergedWithNext, Contiguous"},
      {with("/post_processor", {{"type", "BertProcessing"}}),
       "post_processor: type 'BertProcessing' is not supported; supported: Sequence, ByteLevel, "
       "TemplateProcessing"},
      {with("/decoder", {{"type", "WordPiece"}}),
       "decoder: type 'WordPiece' is not supported; supported: Sequence, ByteLevel, Metaspace, "
       "Replace, ByteFallback, Fuse, Strip"},
  };
  for (const auto& [file, text] : cases)
    EXPECT_EQ(refusal(file), std::string("tokenizer.json: ") + text);
}

json text_decoder(const char* parts) {
  return {{"type", "Sequence"}, {"decoders", json::parse(parts)}};
}

TEST(Tokenizer, DecodersThatAStreamCannotFollowAreNamed) {
  constexpr const char* kStrip = R"([{"type": "Strip", "content": " ", "start": 1, "stop": 0}])";
  constexpr const char* kStop =
      R"([{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 1}])";
  constexpr const char* kWide =
      R"([{"type": "Fuse"}, {"type": "Strip", "content": "▁", "start": 1, "stop": 0}])";
  constexpr const char* kTwice = R"([{"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0},
      {"type": "Strip", "content": "x", "start": 1, "stop": 0}])";
  constexpr const char* kLate = R"([{"type": "ByteFallback"},
      {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}])";
  constexpr const char* kRegex =
      R"([{"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}])";
  constexpr const char* kNothing =
      R"([{"type": "Replace", "pattern": {"String": ""}, "content": "b"}])";
  constexpr const char* kSpaces =
      R"([{"type": "Fuse"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}])";
  const std::pair<const char*, const char*> cases[] = {
      {"[]", ": an empty Sequence is not supported"},
      {R"([{"type": "ByteLevel"}, {"type": "Fuse"}])",
       ".decoders[1]: nothing is supported behind ByteLevel"},
      {R"([{"type": "Fuse"}, {"type": "ByteLevel"}])",
       ".decoders[1]: ByteLevel is supported only as the first decoder"},
      {kStrip, ".decoders[0]: Strip is supported only behind Fuse"},
      {kStop, ".decoders[1].stop: only 0 is supported: a stream does not know its end"},
      {kWide, ".decoders[1].content: only an ASCII character is supported"},
      {kTwice, ".decoders[2]: a second Strip is not supported"},
      {kLate, ".decoders[1]: is supported only before ByteFallback and Fuse"},
      {kRegex, ".decoders[0].pattern: Replace with a Regex is not supported; only with a String"},
      {kNothing, ".decoders[0].pattern.String: expected a string that is not empty"},
      {kSpaces, ".decoders[1]: Metaspace is supported only as the first decoder"},
  };
  for (const auto& [parts, text] : cases) {
    EXPECT_EQ(refusal(with("/decoder", text_decoder(parts))),
              std::string("tokenizer.json: decoder") + text);
  }
}

TEST(Tokenizer, MalformedMetaspaceIsRefused) {
  const auto metaspace = [](const json& more) {
    json value = {{"type", "Metaspace"}, {"replacement", "\u2581"}};
    value.update(more);
    return refusal(with("/pre_tokenizer", value));
  };
  EXPECT_EQ(metaspace(json::object()), "");
  EXPECT_EQ(metaspace({{"add_prefix_space", false}, {"prepend_scheme", "never"}}), "");
  const std::pair<json, const char*> cases[] = {
      {{{"replacement", "ab"}}, ".replacement: expected one character"},
      {{{"replacement", ""}}, ".replacement: expected one character"},
      {{{"prepend_scheme", "last"}}, ".prepend_scheme: 'last' is none of always, first, never"},
      {{{"split", 1}}, ".split: expected true or false"},
      {{{"add_prefix_space", false}},
       ": add_prefix_space: false contradicts prepend_scheme: always"},
      {{{"spaces", 1}}, ": unknown key 'spaces' might change the result"},
  };
  for (const auto& [more, text] : cases) {
    EXPECT_EQ(metaspace(more), std::string("tokenizer.json: pre_tokenizer") + text);
  }
}

TEST(Tokenizer, MalformedFilesAreRefusedWithThePlace) {
  const std::pair<json, const char*> cases[] = {
      {json::array(), "expected an object"},
      {json::object(), "model: missing"},
      {with("/model", 3), "model: expected an object"},
      {with("/decoder", nullptr), "decoder: expected an object"},
      {with("/pre_tokenizer", "ByteLevel"), "pre_tokenizer: expected an object"},
      {with("/pre_tokenizer/add_prefix_space", 1),
       "pre_tokenizer.add_prefix_space: expected true or false"},
      {with("/pre_tokenizer", json::object()), "pre_tokenizer: expected a string member \"type\""},
      {with("/pre_tokenizer", {{"type", "Digits"}}), "pre_tokenizer.individual_digits: missing"},
      {with("/pre_tokenizer",
            json::parse(
                R"({"type": "Split", "pattern": {}, "behavior": "Isolated", "invert": false})")),
       "pre_tokenizer.pattern: expected one of String and Regex"},
      {with("/added_tokens", json::object()), "added_tokens: expected an array"},
      {with("/added_tokens/1/content", nullptr), "added_tokens[1].content: expected a string"},
      {with("/added_tokens/1/id", -3),
       "added_tokens[1].id: expected a whole number from 0 to 4194303"},
      {with("/added_tokens/1/lstrip", "no"), "added_tokens[1].lstrip: expected true or false"},
      {with("/added_tokens/1/id", 300),
       "the added token '</s>' states the id 300, but its place gives it 259; ids of added tokens "
       "follow the vocabulary "
       "without a gap"},
      {with("/added_tokens/0/content", std::string(5000, 'x')),
       "added_tokens[0].content: longer than 4096 bytes"},
      {with("/post_processor/single", 1), "post_processor.single: expected an array"},
      {with("/post_processor/single/1/Sequence/id", "B"),
       "post_processor.single[1].Sequence.id: expected \"A\": a single text has no other sequence"},
      {with("/post_processor/single/0/SpecialToken/id", "<x>"),
       "post_processor.special_tokens: '<x>' of the template is missing"},
      {with("/post_processor/special_tokens/<s>/ids/0", 261),
       "post_processor.special_tokens.'<s>'.ids[0]: expected a whole number from 0 to 260"},
  };
  for (const auto& [file, text] : cases)
    EXPECT_EQ(refusal(file), std::string("tokenizer.json: ") + text);
}

TEST(Tokenizer, BrokenJsonIsRefused) {
  for (const std::string text : {"", "{", "[1,", "\xFF", "{\"a\": \"\\ud800\"}", "nul", "{} {}"}) {
    const auto made = read_tokenizer_json(text, "");
    ASSERT_FALSE(made.ok()) << text;
    EXPECT_EQ(made.status().code(), COLIBRI_CORRUPT_DATA);
    EXPECT_TRUE(
        made.status().text().starts_with("tokenizer.json: not valid JSON of at most 64 levels: "))
        << made.status().text();
  }
  EXPECT_FALSE(read_tokenizer_json(std::string(100000, '['), "").ok());
  json deep = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}};
  for (int i = 0; i < 12; ++i) deep = {{"type", "Sequence"}, {"pretokenizers", {deep}}};
  EXPECT_NE(refusal(with("/pre_tokenizer", deep)).find("expected at most 8 levels of Sequence"),
            std::string::npos);
  std::string twice = small_tokenizer().dump();
  twice.insert(1, "\"version\": \"1.0\",");
  EXPECT_EQ(read_tokenizer_json(twice, "").status().text(),
            "tokenizer.json: expected the key 'version' only once");
}

TEST(Tokenizer, PartsOfTheTextMayVanish) {
  const auto split = json::parse(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "-+"}, "behavior": "Removed", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": false}]})");
  const auto tokenizer = make(with("/pre_tokenizer", split));
  EXPECT_EQ(encode(*tokenizer, "a--the- b"), (Ids{' ', 'a', ' ', 257, ' ', 'b'}));
  EXPECT_EQ(encode(*tokenizer, "---"), Ids{});
}

TEST(Tokenizer, WhitespaceSplits) {
  const auto with_first = [](const char* type) {
    return with("/pre_tokenizer", {{"type", "Sequence"},
                                   {"pretokenizers",
                                    {{{"type", type}},
                                     {{"type", "ByteLevel"},
                                      {"add_prefix_space", true},
                                      {"trim_offsets", true},
                                      {"use_regex", false}}}}});
  };
  EXPECT_EQ(encode(*make(with_first("WhitespaceSplit")), " a,b\t c "),
            (Ids{' ', 'a', ',', 'b', ' ', 'c'}));
  EXPECT_EQ(encode(*make(with_first("Whitespace")), " a,b\t c "),
            (Ids{' ', 'a', ' ', ',', ' ', 'b', ' ', 'c'}));
}

TEST(CheckpointConfig, RolesAndLateSpecialTokens) {
  const auto tokenizer = make(small_tokenizer(), {{"bos_token", "<s>"},
                                                  {"eos_token", {{"content", "</s>"}}},
                                                  {"pad_token", "the"},
                                                  {"unk_token", nullptr}});
  EXPECT_EQ(tokenizer->role("bos"), Ids{258});
  EXPECT_EQ(tokenizer->role("eos"), Ids{259});
  EXPECT_EQ(tokenizer->role("pad"), Ids{257});
  EXPECT_EQ(tokenizer->role("unk"), Ids{});
  EXPECT_TRUE(tokenizer->table().is_special(257));  // was an ordinary token
  EXPECT_EQ(encode(*tokenizer, "others"), (Ids{'o', 257, 'r', 's'}));
}

TEST(CheckpointConfig, ClassesThatPutTheirOwnTokensAround) {
  const json file = small_tokenizer();
  const json roles = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  const auto ids = [&](json config) {
    config.update(roles);
    return encode(*make(file, config), "a", true);
  };
  EXPECT_EQ(ids({{"tokenizer_class", "LlamaTokenizerFast"}, {"add_eos_token", true}}),
            (Ids{258, 'a', 259}));
  EXPECT_EQ(ids({{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", false}}), Ids{'a'});
  EXPECT_EQ(ids({{"tokenizer_class", "GPTNeoXTokenizerFast"}}), Ids{'a'});
  EXPECT_EQ(ids({{"tokenizer_class", "PreTrainedTokenizerFast"}, {"add_eos_token", true}}),
            (Ids{258, 'a'}));
  EXPECT_EQ(ids({{"add_prefix_space", true}}), (Ids{258, ' ', 'a'}));
}

TEST(CheckpointConfig, AddedTokensDecoder) {
  json token = {{"content", "<tool>"}, {"single_word", false}, {"lstrip", true},
                {"rstrip", false},     {"normalized", false},  {"special", true}};
  const auto tokenizer = make(small_tokenizer(), {{"added_tokens_decoder", {{"260", token}}}});
  EXPECT_EQ(encode(*tokenizer, "a  <tool>"), (Ids{'a', 260}));
  EXPECT_TRUE(tokenizer->table().is_special(260));
}

TEST(CheckpointConfig, Refusals) {
  const std::pair<json, const char*> cases[] = {
      {json::array(), "expected an object"},
      {{{"eos_token", "<nowhere>"}}, "eos_token '<nowhere>' is no token of tokenizer.json"},
      {{{"eos_token", 3}},
       "eos_token: expected a token: a string, or an object with a string \"content\""},
      {{{"tokenizer_class", "LlamaTokenizer"}}, "add_bos_token needs a bos_token"},
      {{{"tokenizer_class", 1}}, "tokenizer_class: expected a string"},
      {{{"add_prefix_space", "yes"}}, "add_prefix_space: expected true or false"},
      {{{"added_tokens_decoder", {{"x1", json::object()}}}},
       "added_tokens_decoder: expected ids as keys, not 'x1'"},
      {{{"added_tokens_decoder", {{"260", json::object()}}}},
       "added_tokens_decoder.260.content: missing"},
  };
  for (const auto& [config, text] : cases) {
    EXPECT_EQ(refusal(small_tokenizer(), config), std::string("tokenizer_config.json: ") + text);
  }
}

}  // namespace
}  // namespace colibri::tokenizers
