// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/metaspace.h"

#include <optional>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {

Result<Metaspace> read_metaspace(const Value& value) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "replacement", "prepend_scheme",
                                                    "split", "add_prefix_space", "str_rep"}));
  Metaspace metaspace;
  COLIBRI_ASSIGN(const Value replacement, fields.required("replacement"));
  COLIBRI_ASSIGN(metaspace.replacement, replacement.string());
  if (metaspace.replacement.empty() ||
      utf8::decode(metaspace.replacement, 0).size != metaspace.replacement.size()) {
    return replacement.expected("one character");
  }
  COLIBRI_ASSIGN(metaspace.split, fields.boolean_or("split", true));
  std::string_view scheme = "always";
  if (const std::optional<Value> given = fields.find("prepend_scheme")) {
    COLIBRI_ASSIGN(scheme, given->string());
    if (scheme != "always" && scheme != "first" && scheme != "never") {
      return given->refused(utf8::printable(scheme) + " is none of always, first, never");
    }
  }
  if (scheme == "first") metaspace.prepend = Metaspace::Prepend::kFirst;
  if (scheme == "never") metaspace.prepend = Metaspace::Prepend::kNever;
  // An older spelling, which the reference takes only where it agrees.
  COLIBRI_ASSIGN(const bool add_prefix_space, fields.boolean_or("add_prefix_space", true));
  if (!add_prefix_space && scheme != "never") {
    return value.corrupt("add_prefix_space: false contradicts prepend_scheme: " +
                         std::string(scheme));
  }
  return metaspace;
}

}  // namespace colibri::tokenizers
