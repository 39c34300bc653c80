// SPDX-License-Identifier: Apache-2.0
// Classes of characters as the reference tokenizer uses them. Thread-safe.
#pragma once

#include <string_view>

namespace colibri::tokenizers {

bool is_numeric(char32_t c);      // general category Nd, Nl or No
bool is_punctuation(char32_t c);  // ASCII punctuation and symbols, or general category P
bool is_space(char32_t c);        // property White_Space
bool is_word(char32_t c);  // \w of UTS #18: letters, marks, decimal digits, connectors, joiners

// The text in normalization form NFC (UAX #15), piece by piece as it stands; text is valid UTF-8.
// Throws std::bad_alloc.
std::string nfc(std::string_view text);

}  // namespace colibri::tokenizers
