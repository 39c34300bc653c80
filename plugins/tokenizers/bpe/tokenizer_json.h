// SPDX-License-Identifier: Apache-2.0
// A Hugging Face tokenizer.json with a BPE model.
#pragma once

#include <memory>
#include <string_view>

#include "plugins/tokenizers/common/tokenizer.h"

namespace colibri::tokenizers {

// Ok if the model is BPE; else the reason in a few words. Details that are not supported are a
// matter for reading the file, where they can be named in full.
Status check_bpe(std::string_view tokenizer_json);

// Reads tokenizer.json, and, unless it is empty, tokenizer_config.json the way that transformers
// applies it. COLIBRI_UNSUPPORTED by name for what is not implemented exactly.
Result<std::unique_ptr<Tokenizer>> read_tokenizer_json(std::string_view tokenizer_json,
                                                       std::string_view tokenizer_config);

}  // namespace colibri::tokenizers
