// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "colibri/kernels.h"
#include "runtime/config/problem.h"

namespace colibri::plugin {
namespace {

using Json = nlohmann::json;

constexpr size_t kDepth = 8;
constexpr size_t kNameBytes = 64;
constexpr std::string_view kNumerics[] = {"", "identical", "deterministic", "approximate"};
constexpr std::string_view kTypes[] = {"bool", "int", "float", "string", "file"};

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// [a-z][a-z0-9_]*, at most 64 characters.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytes && is_lower(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

// The decimal numbers of "1.2.3"; empty if it is no such thing.
std::vector<uint32_t> dotted_numbers(std::string_view text) {
  std::vector<uint32_t> numbers = {0};
  bool digit_before = false;
  for (const char c : text) {
    if (is_digit(c) && numbers.back() < 100'000'000) {
      numbers.back() = numbers.back() * 10 + static_cast<uint32_t>(c - '0');
    } else if (c == '.' && digit_before) {
      numbers.push_back(0);
    } else {
      return {};
    }
    digit_before = is_digit(c);
  }
  if (!digit_before) return {};
  return numbers;
}

// "colibri.sampler/1", or a vendor's own "acme.thing/2".
bool is_interface(std::string_view text) {
  const size_t dot = text.find('.');
  const size_t slash = text.find('/');
  return dot < slash && slash < text.size() && is_name(text.substr(0, dot)) &&
         is_name(text.substr(dot + 1, slash - dot - 1)) &&
         dotted_numbers(text.substr(slash + 1)).size() == 1;
}

// Parses without exceptions; refuses repeated keys, of which the library would keep the last
// without a word.
Result<Json> parse_json(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string problem;
  const Json::parser_callback_t check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (static_cast<size_t>(depth) > kDepth) problem = "nested more than 8 levels deep";
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      problem = "key " + config::quote(parsed.get<std::string>()) + " stands twice";
    }
    return true;
  };
  Json json = Json::parse(text.begin(), text.end(), check, /*allow_exceptions=*/false);
  if (json.is_discarded()) return corrupt_data("not JSON");
  if (!problem.empty()) return corrupt_data(problem);
  if (!json.is_object()) return corrupt_data("not a JSON object");
  return json;
}

// Reads the members of one object; remembers the first problem, and at the end refuses members that
// nobody asked for.
class Members {
 public:
  Members(const Json& object, std::string place) : object_(object), place_(std::move(place)) {}

  const Json* get(const char* key, bool needed) {
    asked_.push_back(key);
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    if (needed) fail(key, "is missing");
    return nullptr;
  }
  std::string string(const char* key, bool needed) {
    const Json* value = get(key, needed);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    if (value != nullptr) fail(key, "is not a string");
    return "";
  }
  std::vector<std::string> strings(const char* key, bool needed) {
    std::vector<std::string> list;
    const Json* value = get(key, needed);
    if (value == nullptr) return list;
    bool good = value->is_array();
    for (const Json& item : *value) {
      good = good && item.is_string();
      if (good) list.push_back(item.get<std::string>());
    }
    if (!good) fail(key, "is not a list of strings");
    return list;
  }
  std::vector<uint32_t> numbers(const char* key, bool needed) {
    std::vector<uint32_t> list;
    const Json* value = get(key, needed);
    if (value == nullptr) return list;
    bool good = value->is_array();
    for (const Json& item : *value) {
      good = good && item.is_number_unsigned() && item <= 9999;
      if (good) list.push_back(item.get<uint32_t>());
    }
    if (!good) fail(key, "is not a list of whole numbers below 10000");
    return list;
  }
  void fail(const std::string& key, const std::string& what) {
    if (status_.ok()) status_ = corrupt_data(place_ + key + " " + what);
  }
  Status finish() {
    for (const auto& member : object_.items()) {
      if (std::find(asked_.begin(), asked_.end(), member.key()) == asked_.end()) {
        fail(config::quote(member.key()),
             "is not a key" + config::suggestion(member.key(), asked_));
      }
    }
    return status_;
  }

 private:
  const Json& object_;
  const std::string place_;
  std::vector<std::string_view> asked_;
  Status status_;
};

// A JSON value as the option's type; nothing if it has another one.
std::optional<OptionValue> typed(const Json& value, OptionType type) {
  switch (type) {
    case OptionType::kBool:
      if (value.is_boolean()) return value.get<bool>();
      break;
    case OptionType::kInt:
      if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) break;
      if (value.is_number_integer()) return value.get<int64_t>();
      break;
    case OptionType::kFloat:
      if (value.is_number()) return value.get<double>();
      break;
    case OptionType::kString:
      if (value.is_string()) return value.get<std::string>();
      break;
    case OptionType::kFile:
      break;  // has no default
  }
  return std::nullopt;
}

Result<OptionSpec> read_option(const Json& json, const std::string& place) {
  if (!json.is_object()) return corrupt_data(place + " is not an object");
  Members members(json, place + ".");
  OptionSpec spec;
  spec.name = members.string("name", true);
  if (!is_name(spec.name)) members.fail("name", "is not a name ([a-z][a-z0-9_]*)");
  const std::string type = members.string("type", true);
  const auto* known = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (known == std::end(kTypes)) {
    members.fail("type", "is not bool, int, float, string or file");
    return members.finish();
  }
  spec.type = static_cast<OptionType>(known - std::begin(kTypes));
  const auto read = [&](const char* key, std::optional<OptionValue>& to) {
    const Json* value = members.get(key, false);
    if (value == nullptr) return;
    to = typed(*value, spec.type);
    if (!to) members.fail(key, "is not of type " + type);
  };
  read("default", spec.default_value);  // a file has none: a plugin cannot know what lies where
  read("min", spec.min);
  read("max", spec.max);
  spec.values = members.strings("values", false);
  spec.doc = members.string("doc", true);
  const bool is_number = spec.type == OptionType::kInt || spec.type == OptionType::kFloat;
  if ((spec.min || spec.max) && !is_number) members.fail("min", "and max are for int and float");
  if (!spec.values.empty() && spec.type != OptionType::kString) {
    members.fail("values", "is for string");
  }
  COLIBRI_TRY(members.finish());
  if (spec.default_value) {
    const std::string problem = out_of_range(spec, *spec.default_value);
    if (!problem.empty()) return corrupt_data(place + ".default " + problem);
  }
  return spec;
}

Status read_options(Members& members, Manifest& manifest) {
  const Json* list = members.get("options", false);
  if (list == nullptr) return {};
  if (!list->is_array()) return corrupt_data("options is not a list");
  for (const Json& json : *list) {
    const std::string place = "options[" + std::to_string(manifest.options.size()) + "]";
    COLIBRI_ASSIGN(OptionSpec spec, read_option(json, place));
    for (const OptionSpec& other : manifest.options) {
      if (other.name == spec.name) return corrupt_data(place + " has the name of another option");
    }
    manifest.options.push_back(std::move(spec));
  }
  return {};
}

Status read_requires(Members& members, Manifest& manifest) {
  const Json* json = members.get("requires", false);
  if (json == nullptr) return {};
  if (!json->is_object()) return corrupt_data("requires is not an object");
  Members inner(*json, "requires.");
  manifest.architecture = inner.string("arch", true);
  manifest.cpu_features = inner.strings("cpu", false);
  manifest.cuda_architectures = inner.numbers("cuda", false);
  return inner.finish();
}

void read_numerics(Members& members, Manifest& manifest) {
  const bool kernels =
      std::any_of(manifest.interfaces.begin(), manifest.interfaces.end(),
                  [](const std::string& id) { return id.starts_with("colibri.kernels/"); });
  const std::string text = members.string("numerics", kernels);
  const auto* known = std::find(std::begin(kNumerics), std::end(kNumerics), text);
  if (known == std::end(kNumerics) || (kernels && text.empty())) {
    members.fail("numerics", "is not identical, deterministic or approximate");
  } else if (!kernels && !text.empty()) {
    members.fail("numerics", "is for plugins that offer kernels");
  } else {
    manifest.numerics = static_cast<uint32_t>(known - std::begin(kNumerics));
  }
}

}  // namespace

bool Manifest::offers(std::string_view interface_id) const {
  return std::find(interfaces.begin(), interfaces.end(), interface_id) != interfaces.end();
}

bool Manifest::abi_fits() const {
  return abi_major == COLIBRI_ABI_MAJOR && abi_minor <= COLIBRI_ABI_MINOR;
}

const char* numerics_name(uint32_t numerics) {
  return numerics < std::size(kNumerics) ? kNumerics[numerics].data() : "";
}

Result<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > kManifestBytes) {
    return corrupt_data("longer than " + std::to_string(kManifestBytes) + " bytes");
  }
  COLIBRI_ASSIGN(const Json json, parse_json(text));
  Members members(json, "");
  Manifest manifest;
  manifest.id = members.string("id", true);
  if (!is_name(manifest.id)) members.fail("id", "is not a name ([a-z][a-z0-9_]*)");
  manifest.version = members.string("version", true);
  if (dotted_numbers(manifest.version).size() != 3) members.fail("version", "is not like 1.2.3");
  const std::vector<uint32_t> abi = dotted_numbers(members.string("abi", true));
  if (abi.size() == 2) {
    manifest.abi_major = abi[0];
    manifest.abi_minor = abi[1];
  } else {
    members.fail("abi", "is not like 1.0");
  }
  manifest.interfaces = members.strings("interfaces", true);
  if (!manifest.abi_fits() && abi.size() == 2) {
    return manifest;  // the rest follows rules that this host does not know; the ABI is why it is
                      // refused
  }

  if (manifest.interfaces.empty()) members.fail("interfaces", "is empty");
  for (const std::string& id : manifest.interfaces) {
    if (!is_interface(id)) members.fail("interfaces", "holds a name unlike colibri.sampler/1");
  }
  if (const Json* rank = members.get("rank", false)) {
    const bool good = rank->is_number_integer() && *rank >= -1'000'000 && *rank <= 1'000'000;
    if (good) manifest.rank = rank->get<int32_t>();
    if (!good) members.fail("rank", "is not a whole number within a million");
  }
  read_numerics(members, manifest);
  COLIBRI_TRY(read_requires(members, manifest));
  COLIBRI_TRY(read_options(members, manifest));
  COLIBRI_TRY(members.finish());
  return manifest;
}

}  // namespace colibri::plugin
