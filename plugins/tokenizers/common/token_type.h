// SPDX-License-Identifier: Apache-2.0
// What a token is for, by the numbers that SentencePiece models and GGUF files share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace colibri::tokenizers {

enum class TokenType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

// The byte that a token <0x00> to <0xFF> names; nothing for any other.
std::optional<char> byte_of(std::string_view token);

}  // namespace colibri::tokenizers
