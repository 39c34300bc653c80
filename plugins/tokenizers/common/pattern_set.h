// SPDX-License-Identifier: Apache-2.0
// What matches one character in a pattern: literals, escapes and sets, rewritten from Oniguruma to
// PCRE2.
#pragma once

#include <string>
#include <string_view>

#include "plugins/tokenizers/common/pattern_reader.h"

namespace colibri::tokenizers {

// A character as PCRE2 reads it literally, inside and outside of sets.
std::string literal(char32_t c, std::string_view utf8);

// One member of a set: text for the inside of [...], or, for what cannot stand there, a group.
struct Member {
  std::string inside;
  std::string group;
  char32_t character = 0;  // if it is a single one: a range can begin with it
  bool single = false;
};

// Reads a backslash and what belongs to it; anchors are not for here. \w is not quite the same
// inside of a set.
Status read_escape(PatternReader& in, bool inside_set, Member& member);
// Reads [...]: members, ranges, sets within it, and && between unions.
Status read_set(PatternReader& in, std::string& text);

}  // namespace colibri::tokenizers
