// SPDX-License-Identifier: Apache-2.0
// Options of plugins: what a manifest declares, what a pipeline gives, and the check of one against
// the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::plugin {

// In the order of colibri_value's kinds bool, int, float, string.
using OptionValue = std::variant<bool, int64_t, double, std::string>;
enum class OptionType { kBool, kInt, kFloat, kString };
const char* name_of(OptionType type);  // "bool", "int", "float", "string"

// One option as a manifest declares it.
struct OptionSpec {
  std::string name;
  OptionType type = OptionType::kString;
  std::optional<OptionValue> default_value;  // none = whoever uses the plugin must give it
  std::optional<OptionValue> min, max;       // of int and float, inclusive
  std::vector<std::string> values;           // of string: the allowed ones; empty = any
  std::string doc;
};

// One option as a user wrote it. Types come from the manifest, not from the document's guess.
struct GivenOption {
  enum class Form { kPlain, kQuoted, kNotScalar };
  std::string name;
  std::string text;          // of a scalar
  Form form = Form::kPlain;  // quoted text is never a number or a bool
  std::string where;         // "file:line:col", "--set", ...; may be empty
};

// The values an instance works with, by name.
using Options = std::map<std::string, OptionValue, std::less<>>;

// Checks and types what was given. On failure the text has one line for each problem, "where:
// option 'x' of plugin 'id': problem". Options that were not given take `base` (may be null), else
// their default. An option without any of these is an error if `complete`, else it is left out.
// [any]
Result<Options> check_options(const std::string& plugin_id, const std::vector<OptionSpec>& specs,
                              const std::vector<GivenOption>& given, const Options* base,
                              bool complete);

}  // namespace colibri::plugin
