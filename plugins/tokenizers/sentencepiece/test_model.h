// SPDX-License-Identifier: Apache-2.0
// For tests: a small SentencePiece model that is whole and right, to be bent.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/token_type.h"

namespace colibri::tokenizers {

inline std::string wire_varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string wire_number(uint32_t field, uint64_t value) {
  return wire_varint(field << 3) + wire_varint(value);
}
inline std::string wire_bytes(uint32_t field, std::string_view bytes) {
  return wire_varint((field << 3) | 2) + wire_varint(bytes.size()) + std::string(bytes);
}
inline std::string wire_float(uint32_t field, float value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return wire_varint((field << 3) | 5) + bytes;
}

struct SmallModel {
  struct Piece {
    std::string text;
    float score;
    TokenType type;
  };
  std::vector<Piece> pieces = {
      {"<unk>", 0, TokenType::kUnknown},   {"<s>", 0, TokenType::kControl},
      {"</s>", 0, TokenType::kControl},    {"\u2581", -4, TokenType::kNormal},
      {"a", -5, TokenType::kNormal},       {"b", -6, TokenType::kNormal},
      {"\u2581a", -2, TokenType::kNormal}, {"ab", -1, TokenType::kNormal},
      {"<u>", 0, TokenType::kUserDefined}};
  std::string trainer = wire_number(3, 2);     // BPE
  std::string normalizer = wire_number(4, 0);  // keeps white space
  std::string rest;

  std::string bytes() const {
    std::string file;
    for (const Piece& piece : pieces) {
      file += wire_bytes(1, wire_bytes(1, piece.text) + wire_float(2, piece.score) +
                                wire_number(3, static_cast<uint64_t>(piece.type)));
    }
    return file + wire_bytes(2, trainer) + wire_bytes(3, normalizer) + rest;
  }
};

}  // namespace colibri::tokenizers
