// SPDX-License-Identifier: Apache-2.0
// "Replace", which tokenizer.json has both as a normalizer and as a decoder.
#pragma once

#include <string_view>

#include "plugins/tokenizers/common/json.h"

namespace colibri::tokenizers {

struct StringReplacement {
  std::string_view what, by;  // of the file
};

// {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}. A Regex is COLIBRI_UNSUPPORTED.
Result<StringReplacement> read_string_replacement(const Value& value);

}  // namespace colibri::tokenizers
