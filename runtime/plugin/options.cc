// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/options.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "runtime/base/file.h"
#include "runtime/config/field_types.h"

namespace colibri::plugin {
namespace {

std::string listed(const std::vector<std::string>& values) {
  return config::joined({values.begin(), values.end()});
}

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

// The file that a value names; what is wrong with it goes to `problem`.
std::optional<OptionValue> content_of(const config::Value& value, std::string& problem) {
  Result<std::string> content = read_file(config::resolved_path(value), kMaxFileBytes);
  if (!content.ok()) {
    problem = content.status().text();
  } else if (content->empty()) {
    problem = "names an empty file: " + config::quote(value.text);
  } else {
    return std::move(*content);
  }
  return std::nullopt;
}

std::optional<OptionValue> typed(const config::Value& value, OptionType type) {
  switch (type) {
    case OptionType::kBool:
      if (const auto flag = config::to_boolean(value)) return *flag;
      break;
    case OptionType::kInt:
      if (const auto number = config::to_integer(value)) return *number;
      break;
    case OptionType::kFloat:
      if (const auto number = config::to_number(value)) return *number;
      break;
    case OptionType::kString:
      if (value.is_scalar()) return value.text;
      break;
    case OptionType::kFile:
      break;  // content_of()
  }
  return std::nullopt;
}

std::vector<std::string_view> names_of(const std::vector<OptionSpec>& specs) {
  std::vector<std::string_view> names;
  names.reserve(specs.size());
  for (const OptionSpec& spec : specs) names.push_back(spec.name);
  return names;
}

}  // namespace

const char* name_of(OptionType type) {
  constexpr const char* kNames[] = {"bool", "int", "float", "string", "file"};
  return kNames[static_cast<size_t>(type)];
}

std::string text_of(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  char shortest[32];  // that reads back the same
  const double number = std::get<double>(value);
  return std::string(shortest, std::to_chars(shortest, std::end(shortest), number).ptr);
}

config::Position position_of(const config::Value& value) {
  return value.position.file == nullptr ? config::position_of_name("default") : value.position;
}

std::string out_of_range(const OptionSpec& spec, const OptionValue& value) {
  // Alternatives of one type: a value has the type of its spec.
  if (spec.min && value < *spec.min) {
    return "is " + text_of(value) + ", less than " + text_of(*spec.min);
  }
  if (spec.max && value > *spec.max) {
    return "is " + text_of(value) + ", more than " + text_of(*spec.max);
  }
  if (!spec.values.empty()) {
    const std::string& text = std::get<std::string>(value);
    if (std::find(spec.values.begin(), spec.values.end(), text) == spec.values.end()) {
      return "is " + config::quote(text) + ", not one of: " + listed(spec.values);
    }
  }
  return "";
}

Options check_options(const std::string& plugin_id, const std::vector<OptionSpec>& specs,
                      const config::Value& given, const std::string& key, const Options* base,
                      bool complete, config::Problems& problems) {
  const config::Position position = position_of(given);
  if (!given.is_null() && !given.is_map()) {
    problems.add(position, key, "is not a map of options");
    return {};
  }
  for (const config::Value& value : given.children) {
    const auto known = std::find_if(specs.begin(), specs.end(),
                                    [&](const OptionSpec& spec) { return spec.name == value.key; });
    if (known == specs.end()) {
      problems.add(value.key_position, key + "." + value.key,
                   "plugin " + plugin_id + " has no such option" +
                       (specs.empty() ? "; it has none at all"
                                      : config::suggestion(value.key, names_of(specs))));
    }
  }

  Options options;
  for (const OptionSpec& spec : specs) {
    const config::Value* value = given.find(spec.name);
    if (value != nullptr) {
      std::string problem = std::string("must be of type ") + name_of(spec.type) + ", not " +
                            config::describe(*value);
      const bool is_file = spec.type == OptionType::kFile && value->is_scalar();
      const std::optional<OptionValue> read =
          is_file ? content_of(*value, problem) : typed(*value, spec.type);
      if (read) problem = out_of_range(spec, *read);
      if (!problem.empty()) problems.add(value->position, key + "." + spec.name, problem);
      if (read) options.emplace(spec.name, *read);
      continue;
    }
    const auto inherited = base == nullptr ? Options::const_iterator() : base->find(spec.name);
    if (base != nullptr && inherited != base->end()) {
      options.emplace(spec.name, inherited->second);
    } else if (spec.default_value) {
      options.emplace(spec.name, *spec.default_value);
    } else if (complete) {
      problems.add(position, key + "." + spec.name,
                   "plugin " + plugin_id + " needs this option (" + name_of(spec.type) + ": " +
                       spec.doc + ")");
    }
  }
  return options;
}

}  // namespace colibri::plugin
