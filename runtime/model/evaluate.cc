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
using config::Scalar;
using config::Type;

Result<Literal> calculate_integer(Expr::Kind kind, int64_t a, int64_t b) {
  const std::string quotient = std::to_string(a) + " / " + std::to_string(b);
  int64_t result = 0;
  bool overflow = false;
  if (kind == Expr::Kind::kDiv) {
    if (b < 1) return invalid_argument(quotient + ": the divisor is not positive");
    if (a % b != 0) return invalid_argument(quotient + " leaves a remainder");
    result = a / b;
  } else if (kind == Expr::Kind::kAdd) {
    overflow = __builtin_add_overflow(a, b, &result);
  } else {
    overflow = __builtin_sub_overflow(a, b, &result);
  }
  if (overflow) return invalid_argument("the result overflows");
  return Literal(result);
}

Result<double> calculate_number(Expr::Kind kind, double a, double b) {
  if (kind == Expr::Kind::kDiv && b == 0) return invalid_argument("divides by zero");
  const double result = kind == Expr::Kind::kAdd   ? a + b
                        : kind == Expr::Kind::kSub ? a - b
                        : kind == Expr::Kind::kMul ? a * b
                                                   : a / b;
  if (!std::isfinite(result)) return invalid_argument("the result is not finite");
  return result;
}

Result<Literal> calculate(Expr::Kind kind, Type type, const Literal& a, const Literal& b) {
  const int64_t* integer = std::get_if<int64_t>(&a);
  if (integer != nullptr) return calculate_integer(kind, *integer, std::get<int64_t>(b));
  COLIBRI_ASSIGN(const double number,
                 calculate_number(kind, std::get<double>(a), std::get<double>(b)));
  if (type == Type::kNumber) return Literal(number);
  // A product of numbers where an integer is wanted.
  if (std::abs(number) >= static_cast<double>(kLargestInteger)) {
    return invalid_argument("the result is beyond 2^53");
  }
  return Literal(static_cast<int64_t>(number));
}

Result<Evaluated> evaluate_arithmetic(const Expr& expression, Type type,
                                      const References& references) {
  const Type inner = config::operand_type(expression, 0, type);
  COLIBRI_ASSIGN(Evaluated result, evaluate(expression.operands[0], inner, false, references));
  COLIBRI_ASSIGN(const Evaluated other, evaluate(expression.operands[1], inner, false, references));
  const Result<Literal> literal = calculate(expression.kind, type, result.value, other.value);
  if (!literal.ok()) return literal.status().at(expression.place());
  result.value = *literal;
  result.keys.insert(result.keys.end(), other.keys.begin(), other.keys.end());
  return result;
}

Result<Evaluated> evaluate_first(const Expr& expression, Type type, const References& references) {
  for (const Expr& operand : expression.operands) {
    COLIBRI_ASSIGN(Evaluated value, evaluate(operand, type, true, references));
    if (!value.is_null()) return value;
  }
  return Evaluated();
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

// The value of the case that a text is; `places` says where the text came from.
Result<Evaluated> evaluate_case(const Expr& map, const std::string& text, const std::string& places,
                                Type type, bool nullable, const References& references) {
  const auto found = std::find(map.cases.begin(), map.cases.end(), text);
  if (found == map.cases.end()) {
    std::string cases;
    for (const std::string& known : map.cases) cases += (cases.empty() ? "" : ", ") + known;
    return invalid_argument(map.place() + ": " + places + (places.empty() ? "it is " : " is ") +
                            utf8::printable(text) +
                            ", which this architecture does not cover (covered: " + cases + ")");
  }
  const auto i = static_cast<size_t>(found - map.cases.begin());
  return evaluate(map.operands[i + 1], type, nullable, references);
}

Result<Evaluated> evaluate_map(const Expr& map, Type type, const References& references) {
  const Type inner = config::operand_type(map, 0, type);
  // A list may be absent as a whole.
  COLIBRI_ASSIGN(Evaluated selected,
                 evaluate(map.operands[0], inner, config::is_list(type), references));
  if (selected.is_null()) return selected;
  std::string places;
  for (const std::string_view key : selected.keys) {
    places += (places.empty() ? "" : ", ") + references.place_of(key);
  }
  Evaluated result;
  result.keys = selected.keys;
  if (!config::is_list(type)) {
    COLIBRI_ASSIGN(Evaluated value, evaluate_case(map, std::get<std::string>(selected.value),
                                                  places, type, true, references));
    result.value = std::move(value.value);
    result.keys.insert(result.keys.end(), value.keys.begin(), value.keys.end());
    return result;
  }
  std::vector<Scalar> items;
  for (const Scalar& item : std::get<std::vector<Scalar>>(selected.value)) {
    COLIBRI_ASSIGN(const Evaluated value,
                   evaluate_case(map, std::get<std::string>(item), places,
                                 config::element_type(type), false, references));
    if (type == Type::kBooleans) items.emplace_back(std::get<bool>(value.value));
    if (type == Type::kIntegers) items.emplace_back(std::get<int64_t>(value.value));
    if (type == Type::kTexts) items.emplace_back(std::get<std::string>(value.value));
  }
  result.value = std::move(items);
  return result;
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
    case Expr::Kind::kAdd:
    case Expr::Kind::kSub:
    case Expr::Kind::kMul:
    case Expr::Kind::kDiv:
      return evaluate_arithmetic(expression, type, references);
    case Expr::Kind::kCount: {
      Result<Evaluated> count = references.count(expression.operands[0].name);
      if (!count.ok()) return count.status().at(expression.place());
      return as_type(std::move(*count), type);
    }
    case Expr::Kind::kGiven:
      return as_type({references.is_given(expression.operands[0].name), {}}, type);
    case Expr::Kind::kTensor:
      return as_type({references.has_tensor(expression.name), {}}, type);
    case Expr::Kind::kMap:
      return evaluate_map(expression, type, references);
  }
  return internal_error(expression.place() + ": is an unknown kind of expression");
}

}  // namespace

std::string number_text(double number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

Evaluated as_type(Evaluated value, Type type) {
  if (type == Type::kText) {
    if (const bool* boolean = std::get_if<bool>(&value.value)) {
      value.value = std::string(*boolean ? "true" : "false");
    } else if (const int64_t* integer = std::get_if<int64_t>(&value.value)) {
      value.value = std::to_string(*integer);
    } else if (const double* number = std::get_if<double>(&value.value)) {
      value.value = number_text(*number);
    }
  } else if (const int64_t* integer = std::get_if<int64_t>(&value.value);
             integer != nullptr && type == Type::kNumber) {
    value.value = static_cast<double>(*integer);
  }
  return value;
}

Result<Evaluated> evaluate(const Expr& expression, Type type, bool nullable,
                           const References& references) {
  COLIBRI_ASSIGN(Evaluated value, evaluate_any(expression, type, references));
  if (!value.is_null() || nullable) return value;
  const std::string places = places_of(expression, references);
  return invalid_argument(expression.place() + ": " + (places.empty() ? "a value" : places) +
                          " is not given, and " + config::type_name(type) + " is needed");
}

}  // namespace colibri::model
