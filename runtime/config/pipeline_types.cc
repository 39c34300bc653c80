// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/pipeline_types.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "colibri/codec.h"

namespace colibri::config {
namespace {

using Json = nlohmann::ordered_json;

// ---- experts.budget ----

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr Unit kUnits[] = {
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"", 1}};

std::string budget_text(const Field&) {
  return "auto, all, a size (8GiB, 512MiB, 64KiB, or plain bytes) or a percentage (40%)";
}

Json budget_json(const Field&) {
  const std::string number = R"((0|[1-9][0-9]*)(\.[0-9]+)?)";
  return {{"anyOf", Json::array({{{"type", "integer"}, {"minimum", 1}},
                                 {{"type", "string"},
                                  {"pattern", "^(auto|all|" + number + "([KMGT]iB|%))$"}}})}};
}

// The number at the start of a size and what stands behind it.
std::pair<std::optional<double>, std::string_view> split_size(const Value& value) {
  const std::string_view text = value.text;
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  Value number = value;
  number.text = text.substr(0, digits);
  return {to_number(number), text.substr(digits)};
}

// nullopt if the text is no budget; the unit is then the reason, or empty.
std::optional<Budget> budget_of(const Value& value, std::string_view& unknown_unit) {
  if (!value.is_scalar() || value.quoted) return {};
  if (value.text == "auto") return Budget{};
  if (value.text == "all") return Budget{.kind = Budget::Kind::kAll};
  const auto [number, unit] = split_size(value);
  if (!number) return {};
  if (unit == "%") {
    if (*number <= 0 || *number > 100) return {};
    return Budget{.kind = Budget::Kind::kPercent, .percent = *number};
  }
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    const double bytes = std::floor(*number * known.bytes);
    if (bytes < 1 || bytes > 0x1p62) return {};
    return Budget{.kind = Budget::Kind::kBytes, .bytes = static_cast<uint64_t>(bytes)};
  }
  unknown_unit = unit;
  return {};
}

void read_budget(const Field& field, const Value& value, const std::string& key, void* member,
                 Problems& problems) {
  std::string_view unknown_unit;
  if (const auto budget = budget_of(value, unknown_unit)) {
    *static_cast<Budget*>(member) = *budget;
  } else if (!unknown_unit.empty()) {
    problems.add(value.position, key,
                 "unknown unit " + quote(unknown_unit) +
                     suggestion(unknown_unit, {"KiB", "MiB", "GiB", "TiB", "%"}));
  } else {
    problems.add(value.position, key, mismatch(field, value));
  }
}

// ---- placement, devices ----

std::string place_text(const Field&) {
  return "auto, cpu, or a device: a plugin id, or one with a number (cuda:1)";
}

std::string placement_text(const Field& field) {
  return place_text(field) + "; or a map of parts";
}

Json place_json(const Field&) {
  return {{"type", "string"}, {"pattern", "^[a-z][a-z0-9_]*(:[0-9]{1,3})?$"}};
}

// nullopt if the text is none.
std::optional<Place> place_of(std::string_view text) {
  if (text == "auto") return Place{};
  if (text == "cpu") return Place{.kind = Place::Kind::kCpu};
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view id = text.substr(0, colon);
  const std::string_view number = text.substr(std::min(colon + 1, text.size()));
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz", kDigits = "0123456789";
  const bool is_id = !id.empty() && kLetters.find(id[0]) != id.npos &&
                     id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == id.npos;
  const bool has_number = colon < text.size();
  const bool is_number =
      !number.empty() && number.size() <= 3 && number.find_first_not_of(kDigits) == number.npos;
  if (!is_id || (has_number && !is_number)) return {};
  Place place = {.kind = Place::Kind::kDevice, .plugin = std::string(id)};
  for (const char digit : number) {
    place.device = 10 * place.device + static_cast<uint32_t>(digit - '0');
  }
  return place;
}

void read_place(const Field& field, const Value& value, const std::string& key, void* member,
                Problems& problems) {
  const auto place = value.is_scalar() ? place_of(value.text) : std::nullopt;
  if (place) {
    *static_cast<Place*>(member) = *place;
  } else {
    problems.add(value.position, key, mismatch(field, value));
  }
}

void read_placement(const Field& field, const Value& value, const std::string& key, void* member,
                    Problems& problems) {
  if (value.is_map()) {
    read(*field.table, value, key, member, problems);
    return;
  }
  auto& placement = *static_cast<Placement*>(member);
  read_place(field, value, key, &placement.dense, problems);
  placement.experts.others = placement.dense;
}

// ---- placement.experts ----

std::string expert_places_text(const Field& field) {
  return place_text(field) + "; or a map of layers (0-11), each with one of these";
}

Json expert_places_json(const Field& field) {
  return {{"anyOf",
           {place_json(field),
            {{"type", "object"},
             {"patternProperties", {{"^[0-9]{1,5}(-[0-9]{1,5})?$", place_json(field)}}},
             {"additionalProperties", false}}}}};
}

// "7" or "0-11"; nullopt if the text is neither.
std::optional<ExpertPlaces::Layers> layers_of(const std::string& text) {
  ExpertPlaces::Layers layers;
  layers.key = text;
  const size_t dash = std::min(text.find('-'), text.size());
  const auto number = [](std::string_view digits, uint32_t& to) {
    const bool is_one = !digits.empty() && digits.size() <= 5;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), to);
    return is_one && end.ec == std::errc() && end.ptr == digits.data() + digits.size();
  };
  const std::string_view all = text;
  if (!number(all.substr(0, dash), layers.first)) return {};
  layers.last = layers.first;
  if (dash < text.size() && !number(all.substr(dash + 1), layers.last)) return {};
  return layers.first <= layers.last ? std::optional(layers) : std::nullopt;
}

void read_expert_places(const Field& field, const Value& value, const std::string& key,
                        void* member, Problems& problems) {
  auto& places = *static_cast<ExpertPlaces*>(member);
  if (!value.is_map()) {
    read_place(field, value, key, &places.others, problems);
    return;
  }
  Field of_layers = field;
  of_layers.type = &kPlaceType;
  for (const Value& child : value.children) {
    auto layers = layers_of(child.key);
    if (!layers) {
      problems.add(
          child.key_position, key,
          "expected layers, a number or two with - between (0-11), found " + quote(child.key));
      continue;
    }
    for (const ExpertPlaces::Layers& other : places.layers) {
      if (layers->last < other.first || layers->first > other.last) continue;
      problems.add(child.key_position, key,
                   quote(child.key) + " and " + quote(other.key) + " have layers in common");
    }
    read_place(of_layers, child, join(key, child.key), &layers->place, problems);
    places.layers.push_back(std::move(*layers));
  }
}

std::string fraction_text(const Field&) {
  return "a number above 0, at most 1";
}

Json fraction_json(const Field&) {
  return {{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}};
}

void read_fraction(const Field& field, const Value& value, const std::string& key, void* member,
                   Problems& problems) {
  const std::optional<double> number = to_number(value);
  if (number && *number > 0 && *number <= 1) {
    *static_cast<double*>(member) = *number;
  } else {
    problems.add(value.position, key, mismatch(field, value));
  }
}

// ---- model.quantize ----

std::string quantize_text(const Field& field) {
  return choice_text(field) + ", or a map of groups";
}

Json quantize_json(const Field& field) {
  return choice_json(field);
}

Quantize preset(uint32_t codec) {
  if (codec == COLIBRI_CODEC_NONE) return {};
  return {.experts = codec,
          .attention = codec,
          .router = COLIBRI_CODEC_F32,
          .embedding = COLIBRI_CODEC_Q8_0,
          .head = COLIBRI_CODEC_Q8_0};
}

void read_quantize(const Field& field, const Value& value, const std::string& key, void* member,
                   Problems& problems) {
  if (value.is_map()) {
    read(*field.table, value, key, member, problems);
  } else if (const Choice* choice = read_choice(field, value, key, problems)) {
    *static_cast<Quantize*>(member) = preset(static_cast<uint32_t>(choice->value));
  }
}

// ---- model.architecture ----

std::string architecture_text(const Field&) {
  return "auto, a name, or a path ending in .yaml (relative to this file)";
}

Json name_json(const Field&) {
  return {{"type", "string"}, {"minLength", 1}};
}

void read_name(const Field& field, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  if (value.is_scalar() && !value.text.empty()) {
    *static_cast<std::string*>(member) = value.text;
  } else {
    problems.add(value.position, key, mismatch(field, value));
  }
}

void normalise_architecture(Value& value) {
  if (value.is_scalar() && value.text.ends_with(".yaml")) value.text = resolved_path(value);
}

// ---- chat.template ----

std::string chat_template_text(const Field&) {
  return "auto, a name, or a path ending in .jinja (relative to this file)";
}

void normalise_chat_template(Value& value) {
  if (value.is_scalar() && value.text.ends_with(".jinja")) value.text = resolved_path(value);
}

// ---- prompt.template ----

std::string template_text(const Field&) {
  return "text with {input} in it";
}

Json template_json(const Field&) {
  return {{"type", "string"}, {"pattern", R"(\{input\})"}};
}

void read_template(const Field& field, const Value& value, const std::string& key, void* member,
                   Problems& problems) {
  if (value.is_scalar() && value.text.find("{input}") != std::string::npos) {
    *static_cast<std::string*>(member) = value.text;
  } else {
    problems.add(value.position, key, mismatch(field, value));
  }
}

// ---- plugins ----

void read_plugin_choice(const Field& field, const Value& value, const std::string& key,
                        void* member, Problems& problems) {
  auto& choice = *static_cast<PluginChoice*>(member);
  choice.key = key;
  read(*field.table, value, key, &choice, problems);
}

std::string map_text(const Field&) {
  return "a map of the keys below";
}
Json map_json(const Field&) {
  return {{"type", "object"}};
}

std::string list_of_maps_text(const Field&) {
  return "a list of { plugin: id, options: {} }";
}
Json list_of_maps_json(const Field&) {
  return {{"type", "array"}};
}

void read_plugin_choices(const Field& field, const Value& value, const std::string& key,
                         void* member, Problems& problems) {
  if (!value.is_list()) {
    problems.add(value.position, key, mismatch(field, value));
    return;
  }
  auto& choices = *static_cast<std::vector<PluginChoice>*>(member);
  choices.resize(value.children.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    read_plugin_choice(field, value.children[i], join(key, std::to_string(i)), &choices[i],
                       problems);
  }
}

std::string options_text(const Field&) {
  return "a map of options";
}

Json options_json(const Field&) {
  return {{"type", "object"},
          {"additionalProperties", {{"type", {"string", "number", "boolean"}}}}};
}

bool check_options(const Value& value, const std::string& key, Problems& problems) {
  if (!value.is_map()) {
    problems.add(value.position, key, "expected a map of options, found " + describe(value));
    return false;
  }
  for (const Value& option : value.children) {
    if (!option.is_scalar()) {
      problems.add(option.position, join(key, option.key),
                   "expected a number, a text, true or false, found " + describe(option));
    }
  }
  return true;
}

void read_options(const Field&, const Value& value, const std::string& key, void* member,
                  Problems& problems) {
  if (check_options(value, key, problems)) *static_cast<Value*>(member) = value;
}

std::string options_by_id_text(const Field&) {
  return "a map of plugin ids, each with a map of options";
}

Json options_by_id_json(const Field& field) {
  return {{"type", "object"}, {"additionalProperties", options_json(field)}};
}

void read_options_by_id(const Field& field, const Value& value, const std::string& key,
                        void* member, Problems& problems) {
  if (!value.is_map()) {
    problems.add(value.position, key, mismatch(field, value));
    return;
  }
  auto& options = *static_cast<std::map<std::string, Value>*>(member);
  for (const Value& child : value.children) {
    if (check_options(child, join(key, child.key), problems)) options[child.key] = child;
  }
}

std::string pins_text(const Field& field) {
  return "a map of operators (" + choice_text(field) + "), each with a plugin id";
}

Json pins_json(const Field& field) {
  return {{"type", "object"},
          {"propertyNames", choice_json(field)},
          {"additionalProperties", {{"type", "string"}}}};
}

void read_pins(const Field& field, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  if (!value.is_map()) {
    problems.add(value.position, key, mismatch(field, value));
    return;
  }
  std::vector<std::string_view> names;
  for (const Choice& choice : field.choices) names.push_back(choice.name);
  auto& pins = *static_cast<std::map<std::string, std::string>*>(member);
  for (const Value& child : value.children) {
    const std::string path = join(key, child.key);
    if (std::find(names.begin(), names.end(), child.key) == names.end()) {
      problems.add(child.key_position, path, "unknown operator" + suggestion(child.key, names));
    } else if (!child.is_scalar() || child.text.empty()) {
      problems.add(child.position, path, "expected a plugin id, found " + describe(child));
    } else {
      pins[child.key] = child.text;
    }
  }
}

}  // namespace

Result<Budget> parse_budget(std::string_view text) {
  Value value;
  value.kind = Value::Kind::kScalar;
  value.text = text;
  std::string_view unknown_unit;
  if (const auto budget = budget_of(value, unknown_unit)) return *budget;
  return invalid_argument(quote(text) + " is not " + budget_text({}));
}

constexpr FieldType kBudgetType = {budget_text, budget_json, read_budget};
constexpr FieldType kPlaceType = {place_text, place_json, read_place};
constexpr FieldType kPlacementType = {placement_text, place_json, read_placement};
constexpr FieldType kExpertPlacesType = {expert_places_text, expert_places_json,
                                         read_expert_places};
constexpr FieldType kFractionType = {fraction_text, fraction_json, read_fraction};
constexpr FieldType kQuantizeType = {quantize_text, quantize_json, read_quantize};
constexpr FieldType kArchitectureType = {architecture_text, name_json, read_name,
                                         normalise_architecture, true};
constexpr FieldType kChatTemplateType = {chat_template_text, name_json, read_name,
                                         normalise_chat_template, true};
constexpr FieldType kTemplateType = {template_text, template_json, read_template, nullptr, true};
constexpr FieldType kPluginChoiceType = {map_text, map_json, read_plugin_choice};
constexpr FieldType kPluginChoicesType = {list_of_maps_text, list_of_maps_json,
                                          read_plugin_choices};
constexpr FieldType kOptionsType = {options_text, options_json, read_options};
constexpr FieldType kOptionsByIdType = {options_by_id_text, options_by_id_json, read_options_by_id};
constexpr FieldType kPinsType = {pins_text, pins_json, read_pins};

}  // namespace colibri::config
