// SPDX-License-Identifier: Apache-2.0
// The alphabet of byte-level BPE (GPT-2): each of the 256 bytes is one printable character.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace colibri::tokenizers {

// Appends the characters of the bytes of `text`, as UTF-8.
void append_byte_level(std::string_view text, std::string& out);

// The bytes that a token stands for when it is decoded: those of its characters, or, if any
// character is not of the alphabet (an added token), the token's own UTF-8.
std::string bytes_of_token(std::string_view token);

}  // namespace colibri::tokenizers
