// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/prompt.h"

#include <string>

namespace colibri::engine {
namespace {

constexpr std::string_view kInput = "{input}";

bool spells_special_token(const Tokenizer& tokenizer, std::string_view text) {
  const auto vocabulary = static_cast<int32_t>(tokenizer.vocabulary());
  for (int32_t id = 0; id < vocabulary; ++id) {
    if (!tokenizer.is_special(id)) continue;
    const std::string_view spelled = tokenizer.token_bytes(id);
    if (!spelled.empty() && text.find(spelled) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<int32_t>> encode_prompt(const Tokenizer& tokenizer, std::string_view prompt,
                                           std::string_view input) {
  struct Piece {
    std::string_view text;
    bool from_input;
  };
  std::vector<Piece> pieces;
  for (size_t at = 0;;) {
    const size_t next = prompt.find(kInput, at);
    pieces.push_back({prompt.substr(at, next - at), false});
    if (next == std::string_view::npos) break;
    pieces.push_back({input, true});
    at = next + kInput.size();
  }
  if (prompt == kInput || !spells_special_token(tokenizer, input)) {
    // In one go, as the model was trained: tokens may span the borders of the pieces.
    std::string text;
    for (const Piece& piece : pieces) text += piece.text;
    return tokenizer.encode(text, COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL);
  }
  std::vector<int32_t> ids;
  uint32_t once = COLIBRI_ENCODE_ADD_SPECIAL;
  for (const Piece& piece : pieces) {
    const uint32_t parse = piece.from_input ? 0u : uint32_t{COLIBRI_ENCODE_PARSE_SPECIAL};
    COLIBRI_ASSIGN(const std::vector<int32_t> more, tokenizer.encode(piece.text, parse | once));
    ids.insert(ids.end(), more.begin(), more.end());
    once = 0;
  }
  return ids;
}

}  // namespace colibri::engine
