// SPDX-License-Identifier: Apache-2.0
// The characters of Unicode 15.0 to 16.0, with their general categories (UnicodeData.txt): the
// reference tokenizer knows them, PCRE2 10.42 (Unicode 14) and utf8proc 2.8 (15.0) do not.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace colibri::tokenizers {

// E.g. "Lo"; empty for characters of Unicode 14.
std::string_view added_category(char32_t c);

// Those of a category such as "L" or "Lo", as the inside of a PCRE2 set; empty if there are none.
std::string added_ranges(std::string_view category);

}  // namespace colibri::tokenizers
