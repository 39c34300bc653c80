// SPDX-License-Identifier: Apache-2.0
// Patterns of tokenizer.json are written for Oniguruma (Ruby syntax); this rewrites them for PCRE2,
// which agrees with it on less than one would think: \s, \w, \v, ^ and $, scripts, {,n}, x{n}+,
// nested and intersected sets.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::tokenizers {

// The pattern for PCRE2 with UTF, UCP, MULTILINE and LF as the only newline, matching what
// Oniguruma would. Groups no longer capture. COLIBRI_UNSUPPORTED, with the offset in bytes, for
// what is not known to mean the same in both.
Result<std::string> pcre2_pattern(std::string_view oniguruma);

// A pattern that matches this text and nothing else.
std::string literal_pattern(std::string_view text);

}  // namespace colibri::tokenizers
