// SPDX-License-Identifier: Apache-2.0
// Bytes to UTF-8 as they come: complete characters are handed on, the beginning of one is held
// back, and what cannot become a character is U+FFFD. The result equals that of decoding all bytes
// at once. No allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace colibri::tokenizers {

// All zero = the beginning of a text.
struct DecodeState {
  uint8_t bytes[3];  // what is held back of a character
  uint8_t size;
  uint8_t stripped;   // characters left out so far, see TextRules
  bool behind_strip;  // there are no more to leave out
  bool started;       // a token has been decoded
};

// How many U+FFFD stand for what is no character.
enum class Broken {
  kMaximalParts,  // one for each maximal part of one (Unicode 15, 3.9, practice of substitution)
  kBytes          // one for each byte
};

// Where text goes: counts all of it, writes what fits.
struct TextOut {
  char* text;
  size_t capacity;
  size_t size = 0;  // bytes so far, written or not

  void append(std::string_view more);
};

void decode_bytes(DecodeState& state, std::string_view bytes, Broken broken, TextOut& out);
// The end of a run of bytes: what is held back becomes U+FFFD.
void decode_end(DecodeState& state, Broken broken, TextOut& out);

}  // namespace colibri::tokenizers
