// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizers that vocabularies without a tokenizer.json have by name alone.
#pragma once

#include <string>
#include <string_view>

#include "plugins/tokenizers/common/pre_tokenizer.h"

namespace colibri::tokenizers {

struct KnownPreTokenizer {
  PreTokenizers steps;
  bool ignore_merges = false;
  bool add_bos = false;  // unless the file says otherwise
};

// By the name that "tokenizer.ggml.pre" of a GGUF file has. Each cuts as the tokenizer.json of its
// models does (which llama.cpp, where the names come from, approximates outside of ASCII).
// COLIBRI_UNSUPPORTED with the known names.
Result<KnownPreTokenizer> known_pre_tokenizer(std::string_view name);

}  // namespace colibri::tokenizers
