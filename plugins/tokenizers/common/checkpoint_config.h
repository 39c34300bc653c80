// SPDX-License-Identifier: Apache-2.0
// What tokenizer_config.json changes: transformers reads it beside tokenizer.json, and a few of its
// keys overrule that file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/added_tokens.h"
#include "plugins/tokenizers/common/json.h"

namespace colibri::tokenizers {

struct CheckpointConfig {
  std::map<std::string, std::string> roles;  // bos, eos, pad, unk: the content of the token
  std::vector<std::string> specials;         // contents of all named special tokens, roles included
  std::vector<AddedToken> added;             // added_tokens_decoder in the order of its ids
  std::optional<bool> prefix_space;          // of a ByteLevel pre-tokenizer that stands alone
  // Some classes (Llama, GPT-NeoX, Cohere) put bos and eos around a text themselves, in place of
  // the post-processor.
  bool replaces_post_processor = false;
  bool add_bos = false;
  bool add_eos = false;
  // What the file itself says of SentencePiece tokenizers. legacy: also a text behind a special
  // token gets the space that stands before a text.
  std::optional<bool> add_bos_token, add_eos_token, legacy;
};

Result<CheckpointConfig> read_checkpoint_config(const Value& value);

}  // namespace colibri::tokenizers
