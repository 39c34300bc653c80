// SPDX-License-Identifier: Apache-2.0
// For tests: a small tokenizer.json that is whole and right, to be bent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "plugins/tokenizers/common/byte_level.h"

namespace colibri::tokenizers {

// The ids 0 to 255 are the bytes, 256 is "th", 257 "the"; the added tokens <s> and </s> are
// special, <tool> is not.
inline nlohmann::json small_tokenizer() {
  using nlohmann::json;
  json vocab = json::object();
  for (int byte = 0; byte < 256; ++byte) {
    std::string character;
    append_byte_level(std::string(1, static_cast<char>(byte)), character);
    vocab[character] = byte;
  }
  vocab["th"] = 256;
  vocab["the"] = 257;
  const auto added = [](int id, const char* content, bool special) {
    return json{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", special}};
  };
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens",
           {added(258, "<s>", true), added(259, "</s>", true), added(260, "<tool>", false)}},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"post_processor", json::parse(R"({"type": "TemplateProcessing",
         "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}}],
         "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [258], "tokens": ["<s>"]}}})")},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocab},
            {"merges", json::parse(R"([["t", "h"], ["th", "e"]])")}}}};
}

}  // namespace colibri::tokenizers
