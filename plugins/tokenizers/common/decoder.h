// SPDX-License-Identifier: Apache-2.0
// The decoders of tokenizer.json: ByteLevel, or for tokens of text Metaspace or a Sequence of
// Replace, Metaspace, ByteFallback, Fuse and Strip.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/tokenizers/common/decode_table.h"
#include "plugins/tokenizers/common/json.h"

namespace colibri::tokenizers {

struct Decoder {
  bool byte_level = false;                                        // then nothing of the rest
  std::vector<std::pair<std::string, std::string>> replacements;  // in each token, in this order
  bool byte_fallback = false;                                     // <0x00> to <0xFF> are bytes
  TextRules rules;
  std::string first_loses;  // every occurrence of this in the first token; empty = nothing

  DecodeTable table() const { return byte_level ? DecodeTable() : DecodeTable(rules); }
  // Sets the entry of a token in such a table.
  void set(int32_t id, std::string_view content, DecodeTable& table) const;
};

// COLIBRI_UNSUPPORTED by name for other types, and for an order of them that a stream cannot follow
// exactly.
Result<Decoder> read_decoder(const Value& value);

}  // namespace colibri::tokenizers
