// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/evaluate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "runtime/base/utf8.h"

namespace colibri::model {
namespace {

using config::Expr;
using config::Literal;
using config::Type;

// The largest integer up to which doubles, and so most writers of metadata, are exact.
constexpr int64_t kLargestInteger = int64_t{1} << 53;

// The value as a literal of the type; nullopt = it has another type.
std::optional<Literal> literal_of(const colibri_value& value, Type type) {
  if (type == Type::kBoolean) {
    if (value.kind == COLIBRI_VALUE_BOOL) return Literal(value.i != 0);
  } else if (type == Type::kInteger) {
    if (value.kind == COLIBRI_VALUE_INT) return Literal(value.i);
  } else {
    if (value.kind == COLIBRI_VALUE_INT) return Literal(static_cast<double>(value.i));
    if (value.kind == COLIBRI_VALUE_FLOAT) return Literal(value.f);
  }
  return std::nullopt;
}

// An integer that is written out but too large is a float by the time it gets here.
bool is_large_integer(const colibri_value& value) {
  const double limit = static_cast<double>(kLargestInteger);
  return (value.kind == COLIBRI_VALUE_INT &&
          (value.i > kLargestInteger || value.i < -kLargestInteger)) ||
         (value.kind == COLIBRI_VALUE_FLOAT && std::abs(value.f) >= limit);
}

// The quotient of two integers, which must leave no remainder, or of two numbers.
Result<Literal> divide(const Literal& dividend, const Literal& divisor) {
  if (const double* number = std::get_if<double>(&divisor)) {
    if (*number == 0) return invalid_argument("divides by zero");
    return Literal(std::get<double>(dividend) / *number);
  }
  const int64_t by = std::get<int64_t>(divisor);
  const int64_t value = std::get<int64_t>(dividend);
  const std::string quotient = std::to_string(value) + " / " + std::to_string(by);
  if (by < 1) return invalid_argument(quotient + ": the divisor is not positive");
  if (value % by != 0) return invalid_argument(quotient + " leaves a remainder");
  return Literal(value / by);
}

Result<Evaluated> evaluate_div(const Expr& expression, Type type, const References& references) {
  COLIBRI_ASSIGN(Evaluated result, evaluate(expression.operands[0], type, false, references));
  COLIBRI_ASSIGN(const Evaluated by, evaluate(expression.operands[1], type, false, references));
  const Result<Literal> quotient = divide(result.value, by.value);
  if (!quotient.ok()) return quotient.status().at(expression.place());
  result.value = *quotient;
  result.keys.insert(result.keys.end(), by.keys.begin(), by.keys.end());
  return result;
}

Result<Evaluated> evaluate_first(const Expr& expression, Type type, const References& references) {
  for (const Expr& operand : expression.operands) {
    COLIBRI_ASSIGN(Evaluated value, evaluate(operand, type, true, references));
    if (!value.is_null()) return value;
  }
  return Evaluated();
}

Result<Evaluated> evaluate_any(const Expr& expression, Type type, const References& references) {
  switch (expression.kind) {
    case Expr::Kind::kLiteral:
      return Evaluated{expression.literal, {}};
    case Expr::Kind::kReference: {
      Result<Evaluated> found = references.find(expression.name, type);
      if (!found.ok()) return found.status().at(expression.place());
      return found;
    }
    case Expr::Kind::kFirst:
      return evaluate_first(expression, type, references);
    case Expr::Kind::kDiv:
      return evaluate_div(expression, type, references);
  }
  return internal_error(expression.place() + ": is an unknown kind of expression");
}

// What an expression that gave nothing was looking for.
std::string places_of(const Expr& expression, const References& references) {
  if (expression.kind == Expr::Kind::kReference) return references.place_of(expression.name);
  std::string places;
  for (const Expr& operand : expression.operands) {
    const std::string place = places_of(operand, references);
    if (place.empty()) continue;
    places += (places.empty() ? "" : " or ") + place;
  }
  return places;
}

}  // namespace

std::string number_text(double number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

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
  if (type == Type::kInteger && is_large_integer(*value)) {
    return invalid_argument(place_of(name) + " is " + value_text(*value) + ", beyond 2^53");
  }
  const std::optional<Literal> literal = literal_of(*value, type);
  if (!literal) {
    return invalid_argument(place_of(name) + " is " + value_text(*value) + ", not " +
                            config::type_name(type));
  }
  if (const double* number = std::get_if<double>(&*literal); number && !std::isfinite(*number)) {
    return invalid_argument(place_of(name) + " is " + value_text(*value) + ", not a finite number");
  }
  return Evaluated{*literal, {name}};
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
  if (found == nullptr) return Evaluated();
  Evaluated value = found->value;
  const int64_t* integer = std::get_if<int64_t>(&value.value);
  if (integer != nullptr && type == Type::kNumber) value.value = static_cast<double>(*integer);
  return value;
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

Result<Evaluated> evaluate(const Expr& expression, Type type, bool nullable,
                           const References& references) {
  COLIBRI_ASSIGN(Evaluated value, evaluate_any(expression, type, references));
  if (!value.is_null() || nullable) return value;
  const std::string places = places_of(expression, references);
  return invalid_argument(expression.place() + ": " + (places.empty() ? "a value" : places) +
                          " is not given, and " + config::type_name(type) + " is needed");
}

bool is_allowed(const ModelSource& source, const config::Condition& condition) {
  const Result<colibri_value> value = source.metadata(condition.key);
  for (const Literal& allowed : condition.allowed) {
    if (!value.ok()) continue;
    if (std::holds_alternative<std::monostate>(allowed)) {
      if (value->kind == COLIBRI_VALUE_NONE) return true;
    } else if (const std::string* text = std::get_if<std::string>(&allowed)) {
      if (value->kind == COLIBRI_VALUE_STRING && from_c(value->s) == *text) return true;
    } else {
      const Type type = std::holds_alternative<bool>(allowed)      ? Type::kBoolean
                        : std::holds_alternative<int64_t>(allowed) ? Type::kInteger
                                                                   : Type::kNumber;
      if (literal_of(*value, type) == allowed) return true;
    }
  }
  return false;
}

}  // namespace colibri::model
