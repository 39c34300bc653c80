// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizers of tokenizer.json: Sequence, Split, Digits, Punctuation, Whitespace,
// WhitespaceSplit, ByteLevel, Metaspace.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plugins/tokenizers/common/json.h"
#include "plugins/tokenizers/common/pieces.h"
#include "plugins/tokenizers/common/regex.h"

namespace colibri::tokenizers {

// Working memory of one thread.
struct SplitMemory {
  MatchMemory match;
  std::vector<Part> parts;
  std::vector<Range> ranges;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Cuts every piece further; ByteLevel also rewrites the text. Thread-safe.
  virtual Status apply(Pieces& pieces, SplitMemory& memory) const = 0;
};

struct PreTokenizers {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  // The last thing to do is to write every byte as its character. It is not among the steps: most
  // pieces are found in a cache by their bytes.
  bool byte_level = false;
};

// Cuts out what the pattern (Oniguruma syntax) matches, each match a piece.
Status add_pattern(std::string_view pattern, PreTokenizers& out);

// Appends the pre-tokenizers of a value of tokenizer.json; Sequence gives several. A type that is
// not in the list above is COLIBRI_UNSUPPORTED by its name. `prefix_space`, if given, replaces
// add_prefix_space of a ByteLevel that stands alone.
Status read_pre_tokenizer(const Value& value, std::optional<bool> prefix_space, PreTokenizers& out);

}  // namespace colibri::tokenizers
