// SPDX-License-Identifier: Apache-2.0
// JSON to values and back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "runtime/chat/template/value.h"

namespace colibri::chat {

struct JsonStyle {
  bool ascii = false;                 // other characters as \u escapes
  std::optional<Text> indent;         // of one level; none = everything in one line
  std::optional<Text> separators[2];  // between entries, behind a key
  bool sort_keys = false;
};

// json.dumps(value). Fails for what has no JSON: undefined values, macros.
Result<Text> to_json(Budget& budget, const Value& value, const JsonStyle& style);

// All texts are untrusted, but for `trusted_word`: the value of a key of this name is trusted if
// it is a plain word ([A-Za-z0-9_-]+). Fails beyond the budget, for nesting that is too deep, and
// for integers beyond 64 bits.
Result<Value> from_json(Budget& budget, const nlohmann::ordered_json& json,
                        std::string_view trusted_word = {});

}  // namespace colibri::chat
