// SPDX-License-Identifier: Apache-2.0
// A BPE tokenizer as a whole: text -> added tokens -> normalizer -> pre-tokenizers -> BPE ->
// template, and ids -> text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/added_tokens.h"
#include "plugins/tokenizers/common/decode_table.h"
#include "plugins/tokenizers/common/model.h"
#include "plugins/tokenizers/common/normalizer.h"
#include "plugins/tokenizers/common/post_processor.h"
#include "plugins/tokenizers/common/pre_tokenizer.h"

namespace colibri::tokenizers {

// What a file says, read and checked.
struct TokenizerParts {
  Model model;
  Normalizer normalizer;
  AddedTokens added;
  PreTokenizers pre_tokenizers;
  Template wrapping;
  DecodeTable table;
  std::map<std::string, std::vector<int32_t>, std::less<>> roles;  // bos, eos, pad, unk
};

class Tokenizer {
 public:
  explicit Tokenizer(TokenizerParts parts);
  ~Tokenizer();

  // Appends the ids of valid UTF-8. Thread-safe. Allocates nothing for a piece, only for a text.
  Status encode(std::string_view text, bool parse_special, bool add_special,
                std::vector<int32_t>& ids) const;
  int32_t id(std::string_view content) const;
  const std::vector<int32_t>& role(std::string_view name) const;
  const DecodeTable& table() const { return parts_.table; }

 private:
  struct Scratch;
  class Lease;

  Status encode_text(std::string_view text, bool parse_special, Scratch& scratch,
                     std::vector<int32_t>& ids) const;
  Status encode_section(std::string_view normalized, bool at_start, Scratch& scratch,
                        std::vector<int32_t>& ids) const;
  Status encode_piece(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;
  Status encode_new_piece(std::string_view piece, Scratch& scratch,
                          std::vector<int32_t>& ids) const;

  TokenizerParts parts_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> free_;  // guarded by mutex_
};

}  // namespace colibri::tokenizers
