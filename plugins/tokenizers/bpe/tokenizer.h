// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json as a whole: text -> added tokens -> normalizer -> pre-tokenizers -> BPE ->
// template, and ids -> text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/bpe/added_tokens.h"
#include "plugins/tokenizers/bpe/decode_stream.h"
#include "plugins/tokenizers/bpe/model.h"
#include "plugins/tokenizers/bpe/post_processor.h"
#include "plugins/tokenizers/bpe/pre_tokenizer.h"

namespace colibri::bpe {

struct CheckpointConfig;

class Tokenizer {
 public:
  // Reads tokenizer.json, and, unless it is empty, tokenizer_config.json the way that transformers
  // applies it.
  static Result<std::unique_ptr<Tokenizer>> read(std::string_view tokenizer_json,
                                                 std::string_view tokenizer_config);

  int32_t vocabulary() const { return static_cast<int32_t>(bytes_.size()); }
  // Appends the ids of valid UTF-8. Thread-safe.
  Status encode(std::string_view text, bool parse_special, bool add_special,
                std::vector<int32_t>& ids) const;
  std::string_view bytes(int32_t id) const;  // empty = unknown id
  int32_t id(std::string_view content) const;
  bool is_special(int32_t id) const;
  // The id of the role bos, eos, pad or unk; -1 = none.
  int32_t role(std::string_view name) const;
  // The bytes of a token go through the state into out; nothing for an unknown id. Thread-safe.
  void decode(DecodeState& state, int32_t id, bool skip_special, TextOut& out) const;

 private:
  struct Scratch;

  explicit Tokenizer(Model model) : model_(std::move(model)) {}
  Status read_parts(const Fields& file, const Value* config);
  Status read_added(const Fields& file, const CheckpointConfig& config);
  Status read_roles(const CheckpointConfig& config);
  void build_tables();
  Status encode_text(std::string_view text, bool parse_special, Scratch& scratch,
                     std::vector<int32_t>& ids) const;
  Status encode_piece(std::string_view normalized, Scratch& scratch,
                      std::vector<int32_t>& ids) const;

  Model model_;
  AddedTokens added_;
  std::string (*normalize_)(std::string_view) = nullptr;
  PreTokenizers pre_tokenizers_;
  Template template_;
  std::map<std::string, int32_t, std::less<>> roles_;
  std::vector<std::string> bytes_;  // of an id
  std::vector<bool> special_;       // of an id
};

}  // namespace colibri::bpe
