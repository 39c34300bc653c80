// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/references.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "runtime/base/utf8.h"

namespace colibri::model {
namespace {

using config::Literal;
using config::Scalar;
using config::Type;

// Longer lists than anybody needs are refused before they are read.
constexpr uint64_t kLongestList = 1 << 16;

// The value as a literal of the type, which is no list; nullopt = it has another type.
std::optional<Scalar> scalar_of(const colibri_value& value, Type type) {
  switch (value.kind) {
    case COLIBRI_VALUE_BOOL:
      if (type == Type::kBoolean) return value.i != 0;
      if (type == Type::kText) return value_text(value);
      return std::nullopt;
    case COLIBRI_VALUE_INT:
      if (type == Type::kInteger) return value.i;
      if (type == Type::kNumber) return static_cast<double>(value.i);
      if (type == Type::kText) return value_text(value);
      return std::nullopt;
    case COLIBRI_VALUE_FLOAT:
      if (type == Type::kNumber) return value.f;
      if (type == Type::kText) return value_text(value);
      return std::nullopt;
    case COLIBRI_VALUE_STRING:
      if (type == Type::kText) return std::string(from_c(value.s));
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Literal literal_of(const Scalar& scalar) {
  return std::visit([](const auto& value) { return Literal(value); }, scalar);
}

// An integer that is written out but too large is a float by the time it gets here.
bool is_large_integer(const colibri_value& value) {
  const double limit = static_cast<double>(kLargestInteger);
  return (value.kind == COLIBRI_VALUE_INT &&
          (value.i > kLargestInteger || value.i < -kLargestInteger)) ||
         (value.kind == COLIBRI_VALUE_FLOAT && std::abs(value.f) >= limit);
}

}  // namespace

std::string value_text(const colibri_value& value) {
  switch (value.kind) {
    case COLIBRI_VALUE_NONE:
      return "null";
    case COLIBRI_VALUE_BOOL:
      return value.i != 0 ? "true" : "false";
    case COLIBRI_VALUE_INT:
      return std::to_string(value.i);
    case COLIBRI_VALUE_FLOAT:
      return number_text(value.f);
    case COLIBRI_VALUE_STRING:
      return "the text " + utf8::printable(from_c(value.s));
    default:
      return "a list";
  }
}

Result<Evaluated> MetadataReferences::find(std::string_view name, Type type) const {
  const Result<colibri_value> value = source_.metadata(name);
  if (!value.ok()) {
    if (value.status().code() == COLIBRI_NOT_FOUND) return Evaluated();
    return value.status();
  }
  if (value->kind == COLIBRI_VALUE_NONE) return Evaluated();
  if (config::is_list(type)) return find_list(name, *value, type);
  if (type == Type::kInteger && is_large_integer(*value)) {
    return invalid_argument(place_of(name) + " is " + value_text(*value) + ", beyond 2^53");
  }
  const std::optional<Scalar> scalar = scalar_of(*value, type);
  if (!scalar) {
    return invalid_argument(place_of(name) + " is " + value_text(*value) + ", not " +
                            config::type_name(type));
  }
  if (const double* number = std::get_if<double>(&*scalar); number && !std::isfinite(*number)) {
    return invalid_argument(place_of(name) + " is " + value_text(*value) + ", not a finite number");
  }
  return Evaluated{literal_of(*scalar), {name}};
}

Result<Evaluated> MetadataReferences::find_list(std::string_view name, const colibri_value& value,
                                                Type type) const {
  if (value.kind != COLIBRI_VALUE_ARRAY) {
    return invalid_argument(place_of(name) + " is " + value_text(value) + ", not " +
                            config::type_name(type));
  }
  if (value.n > kLongestList) {
    return invalid_argument(place_of(name) + " has " + std::to_string(value.n) +
                            " elements, more than " + std::to_string(kLongestList));
  }
  std::vector<Scalar> items;
  for (uint64_t i = 0; i < value.n; ++i) {
    COLIBRI_ASSIGN(const colibri_value element, source_.metadata(name, i));
    std::optional<Scalar> item = scalar_of(element, config::element_type(type));
    if (!item) {
      return invalid_argument("element " + std::to_string(i) + " of " + place_of(name) + " is " +
                              value_text(element) + ", not " +
                              config::type_name(config::element_type(type)));
    }
    items.push_back(std::move(*item));
  }
  return Evaluated{std::move(items), {name}};
}

Result<Evaluated> MetadataReferences::count(std::string_view name) const {
  const Result<colibri_value> value = source_.metadata(name);
  if (!value.ok() || value->kind == COLIBRI_VALUE_NONE) return Evaluated();
  if (value->kind != COLIBRI_VALUE_ARRAY || value->n > static_cast<uint64_t>(kLargestInteger)) {
    return invalid_argument(place_of(name) + " is " + value_text(*value) + ", not a list");
  }
  return Evaluated{static_cast<int64_t>(value->n), {name}};
}

bool MetadataReferences::is_given(std::string_view name) const {
  const Result<colibri_value> value = source_.metadata(name);
  return value.ok() ? value->kind != COLIBRI_VALUE_NONE : source_.has_members(name);
}

Dimensions::Dimensions(const config::Vocabulary& vocabulary, const ModelSource& source,
                       Problems* problems)
    : source_(source) {
  const MetadataReferences metadata(source);
  for (const config::Dimension& dimension : vocabulary.dims) {
    Result<Evaluated> value =
        evaluate(dimension.value, dimension.type, dimension.nullable, metadata);
    if (value.ok()) {
      entries_.push_back({&dimension, std::move(*value)});
    } else {
      problems->add(value.status().text());
    }
  }
}

const Dimensions::Entry* Dimensions::entry(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& candidate) {
    return candidate.dimension->name == name;
  });
  return found == entries_.end() ? nullptr : &*found;
}

Result<Evaluated> Dimensions::find(std::string_view name, Type type) const {
  const Entry* found = entry(name);
  return found == nullptr ? Evaluated() : as_type(found->value, type);
}

Result<Evaluated> Dimensions::count(std::string_view name) const {
  const Entry* found = entry(name);
  const auto* items =
      found == nullptr ? nullptr : std::get_if<std::vector<Scalar>>(&found->value.value);
  if (items == nullptr) return Evaluated();
  return Evaluated{static_cast<int64_t>(items->size()), found->value.keys};
}

bool Dimensions::is_given(std::string_view name) const {
  const Entry* found = entry(name);
  return found != nullptr && !found->value.is_null();
}

std::string Dimensions::text(std::string_view name) const {
  const Entry* found = entry(name);
  const int64_t* value = found == nullptr ? nullptr : std::get_if<int64_t>(&found->value.value);
  if (value == nullptr) return std::string(name);
  std::string from = origin(found->value);
  if (from.empty()) from = " (" + found->dimension->value.place() + ")";
  return std::string(name) + " = " + std::to_string(*value) + from;
}

std::string Dimensions::origin(const Evaluated& value) const {
  std::string places;
  for (const std::string_view key : value.keys) {
    places += (places.empty() ? " (" : ", ") + source_.place_of(key);
  }
  return places.empty() ? "" : places + ")";
}

bool is_met(const ModelSource& source, const config::Condition& condition) {
  const Result<colibri_value> value = source.metadata(condition.key);
  const bool null =
      value.ok() ? value->kind == COLIBRI_VALUE_NONE : !source.has_members(condition.key);
  const auto is = [&](const Literal& wanted) {
    if (std::holds_alternative<std::monostate>(wanted)) return null;
    if (!value.ok() || null) return false;
    if (const std::string* text = std::get_if<std::string>(&wanted)) {
      return value->kind == COLIBRI_VALUE_STRING && from_c(value->s) == *text;
    }
    const Type type = std::holds_alternative<bool>(wanted)      ? Type::kBoolean
                      : std::holds_alternative<int64_t>(wanted) ? Type::kInteger
                                                                : Type::kNumber;
    const std::optional<Scalar> scalar = scalar_of(*value, type);
    return scalar && literal_of(*scalar) == wanted;
  };
  const bool found = std::any_of(condition.values.begin(), condition.values.end(), is);
  return found != condition.negated;
}

}  // namespace colibri::model
