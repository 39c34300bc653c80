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

#include "runtime/config/value.h"

namespace colibri::plugin {

// In the order of colibri_value's kinds bool, int, float, string.
using OptionValue = std::variant<bool, int64_t, double, std::string>;
// kFile: a pipeline names a file, and the plugin, which does no I/O, gets its content as a string.
enum class OptionType { kBool, kInt, kFloat, kString, kFile };
const char* name_of(OptionType type);  // "bool", "int", "float", "string", "file"
std::string text_of(const OptionValue& value);

// One option as a manifest declares it.
struct OptionSpec {
  std::string name;
  OptionType type = OptionType::kString;
  std::optional<OptionValue> default_value;  // none = whoever uses the plugin must give it
  std::optional<OptionValue> min, max;       // of int and float, inclusive
  std::vector<std::string> values;           // of string: the allowed ones; empty = any
  std::string doc;
};

// What is wrong with a value of the right type, "is 3, more than 1"; empty = nothing. [any]
std::string out_of_range(const OptionSpec& spec, const OptionValue& value);

// The values an instance works with, by name.
using Options = std::map<std::string, OptionValue, std::less<>>;

// Where a value stands; "default" for one that was made by code. [any]
config::Position position_of(const config::Value& value);

// Checks and types what a pipeline gives: `given` is a map of scalars that stands at `key` of the
// document ("sampling.0.options"), or null. Every wrong or unknown option is added to problems. An
// option that is not given takes its value from base (may be null), else its default; if it has
// neither it is a problem if `complete`, else it is left out. Reads the files that options of type
// file name: relative to the document that names them, at most 64 MiB, not empty. [any]
Options check_options(const std::string& plugin_id, const std::vector<OptionSpec>& specs,
                      const config::Value& given, const std::string& key, const Options* base,
                      bool complete, config::Problems& problems);

}  // namespace colibri::plugin
