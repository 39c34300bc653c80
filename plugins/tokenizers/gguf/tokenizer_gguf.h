// SPDX-License-Identifier: Apache-2.0
// The tokenizer of a GGUF file: tokenizer.ggml.model "gpt2" (byte-level BPE with merges) and
// "llama" (SentencePiece BPE by scores, with bytes for what has no token).
#pragma once

#include <memory>
#include <string_view>

#include "plugins/tokenizers/common/tokenizer.h"

namespace colibri::tokenizers {

// `file` is a GGUF file of the keys "tokenizer.*". COLIBRI_UNSUPPORTED by name for other models and
// unknown pre-tokenizers.
Result<std::unique_ptr<Tokenizer>> read_tokenizer_gguf(std::string_view file);

}  // namespace colibri::tokenizers
