// SPDX-License-Identifier: Apache-2.0
// From a prompt to the ids that the model starts from.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/tokenizer.h"

namespace colibri::engine {

// A part of a prompt, and whether special tokens spelled in it mean themselves.
struct PromptPiece {
  std::string_view text;
  bool trusted = false;
};

// The ids of the pieces as one text. A special token counts only where all its bytes are trusted;
// anywhere else it is ordinary text. Tokens of text may span the borders of pieces. flags:
// COLIBRI_ENCODE_ADD_SPECIAL or 0.
Result<std::vector<int32_t>> encode_pieces(const Tokenizer& tokenizer,
                                           std::span<const PromptPiece> pieces, uint32_t flags);

// `prompt` is prompt.template, whose {input} stand for the input. Special tokens are parsed in the
// template; those spelled in the input stay text, unless the template is nothing but {input}: then
// the input is the prompt itself.
Result<std::vector<int32_t>> encode_prompt(const Tokenizer& tokenizer, std::string_view prompt,
                                           std::string_view input);

}  // namespace colibri::engine
