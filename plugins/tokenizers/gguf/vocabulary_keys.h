// SPDX-License-Identifier: Apache-2.0
// The keys "tokenizer.ggml.*" of a GGUF file, read and checked.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, section GGML
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/token_type.h"
#include "runtime/base/status.h"

namespace colibri::tokenizers {

struct VocabularyKeys {
  struct Token {
    std::string_view text;
    TokenType type = TokenType::kNormal;
    double score = 0;
  };

  std::string_view model;     // "gpt2", "llama", ...
  std::string_view pre;       // name of the pre-tokenizer; empty = not said
  std::vector<Token> tokens;  // by id
  bool has_scores = false;
  std::vector<std::string_view> merges;  // "left right" by rank
  std::optional<int32_t> bos, unk, pad;  // ids of tokens
  std::vector<int32_t> ends;             // eos, eot, eom
  std::optional<bool> add_bos, add_eos, add_space_prefix;
};

// `file` holds these keys and outlives the result.
Result<VocabularyKeys> read_vocabulary_keys(std::string_view file);

}  // namespace colibri::tokenizers
