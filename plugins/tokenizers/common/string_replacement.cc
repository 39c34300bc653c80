// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/string_replacement.h"

namespace colibri::tokenizers {

Result<StringReplacement> read_string_replacement(const Value& value) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "pattern", "content"}));
  COLIBRI_ASSIGN(const Value pattern_value, fields.required("pattern"));
  COLIBRI_ASSIGN(const Fields pattern, pattern_value.fields({"String", "Regex"}));
  if (pattern.find("Regex")) {
    return pattern_value.refused("Replace with a Regex is not supported; only with a String");
  }
  COLIBRI_ASSIGN(const Value what, pattern.required("String"));
  COLIBRI_ASSIGN(const Value by, fields.required("content"));
  StringReplacement replacement;
  COLIBRI_ASSIGN(replacement.what, what.string());
  COLIBRI_ASSIGN(replacement.by, by.string());
  if (replacement.what.empty()) return what.expected("a string that is not empty");
  return replacement;
}

}  // namespace colibri::tokenizers
