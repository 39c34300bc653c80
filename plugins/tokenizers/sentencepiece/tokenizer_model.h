// SPDX-License-Identifier: Apache-2.0
// A SentencePiece model ("tokenizer.model"): the library cuts the text, special tokens and decoding
// are as transformers has them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/added_tokens.h"
#include "plugins/tokenizers/common/decode_table.h"
#include "plugins/tokenizers/common/vocabulary.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace colibri::tokenizers {

struct ModelProto;
struct CheckpointConfig;

class ModelTokenizer {
 public:
  // config: tokenizer_config.json; empty = there is none, and BOS is added if the model has one.
  static Result<std::unique_ptr<ModelTokenizer>> read(std::string_view model,
                                                      std::string_view config);
  ~ModelTokenizer();

  // See Tokenizer in bpe/tokenizer.h. Thread-safe.
  Status encode(std::string_view text, bool parse_special, bool add_special,
                std::vector<int32_t>& ids) const;
  int32_t id(std::string_view content) const;
  const std::vector<int32_t>& role(std::string_view name) const;
  const DecodeTable& table() const { return table_; }

 private:
  using Processor = std::unique_ptr<sentencepiece::SentencePieceProcessor>;

  explicit ModelTokenizer(Vocabulary vocabulary);
  static Result<Processor> load(std::string_view model);
  Status add_tokens(const ModelProto& model, const CheckpointConfig& config);
  void fill_table(const ModelProto& model);
  Status read_roles(const ModelProto& model, const CheckpointConfig& config);
  Status encode_text(const sentencepiece::SentencePieceProcessor& processor, std::string_view text,
                     std::vector<int32_t>& ids) const;

  Vocabulary vocabulary_;
  AddedTokens added_;
  DecodeTable table_;
  std::map<std::string, std::vector<int32_t>, std::less<>> roles_;
  bool add_bos_ = false;
  bool add_eos_ = false;
  Processor processor_;
  Processor later_;  // for texts that are not the first; null = the same
};

}  // namespace colibri::tokenizers
