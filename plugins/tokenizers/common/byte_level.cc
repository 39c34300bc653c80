// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/byte_level.h"

#include <array>
#include <cstdint>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr int kAlphabetEnd = 0x144;  // one past the last character in use

struct Alphabet {
  std::array<uint16_t, 256> character{};        // of a byte
  std::array<int16_t, kAlphabetEnd> byte_of{};  // of a character; -1 = none
};

// Bytes that are printable in Latin-1 stand for themselves, the others, in order, for U+0100 and
// up.
constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte_of.fill(-1);
  uint16_t next = 0x100;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    const uint16_t character = printable ? byte : next++;
    alphabet.character[byte] = character;
    alphabet.byte_of[character] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

void append_byte_level(std::string_view text, std::string& out) {
  for (const char c : text) {
    const uint16_t character = kAlphabet.character[static_cast<unsigned char>(c)];
    if (character < 0x80) {
      out += static_cast<char>(character);
    } else {
      out += static_cast<char>(0xC0 | (character >> 6));
      out += static_cast<char>(0x80 | (character & 0x3F));
    }
  }
}

std::string bytes_of_token(std::string_view token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const utf8::Character c = utf8::decode(token, at);
    if (c.size == 0 || c.code_point >= kAlphabetEnd || kAlphabet.byte_of[c.code_point] < 0) {
      return std::string(token);
    }
    bytes += static_cast<char>(kAlphabet.byte_of[c.code_point]);
    at += c.size;
  }
  return bytes;
}

}  // namespace colibri::tokenizers
