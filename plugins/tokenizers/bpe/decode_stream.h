// SPDX-License-Identifier: Apache-2.0
// Bytes to UTF-8 as they come: complete characters are handed on, the beginning of one is held
// back, and what cannot become a character is U+FFFD, one for each maximal part of a character
// (Unicode 15, section 3.9, practice of substitution). The result equals that of decoding all bytes
// at once. No allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace colibri::bpe {

// What is held back. All zero = nothing.
struct DecodeState {
  uint8_t bytes[3];
  uint8_t size;
};

// Where text goes: counts all of it, writes what fits.
struct TextOut {
  char* text;
  size_t capacity;
  size_t size = 0;  // bytes so far, written or not

  void append(std::string_view more);
};

void decode_bytes(DecodeState& state, std::string_view bytes, TextOut& out);
// The end: what is held back becomes U+FFFD.
void decode_end(DecodeState& state, TextOut& out);

}  // namespace colibri::bpe
