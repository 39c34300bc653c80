// SPDX-License-Identifier: Apache-2.0
// "Metaspace", which tokenizer.json has both as a pre-tokenizer and as a decoder: spaces are
// written as another character, U+2581 as a rule.
#pragma once

#include <string>

#include "plugins/tokenizers/common/json.h"

namespace colibri::tokenizers {

struct Metaspace {
  // Which pieces get the character in front unless they begin with it.
  enum class Prepend { kAlways, kFirst, kNever };  // kFirst: the one at the beginning of the text

  std::string replacement;
  Prepend prepend = Prepend::kAlways;
  bool split = true;  // every occurrence begins a piece
};

Result<Metaspace> read_metaspace(const Value& value);

}  // namespace colibri::tokenizers
