// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/expression.h"

#include "runtime/config/architecture_types.h"

namespace colibri::config {
namespace {

bool is_reference_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  if (text.empty()) return false;
  for (const char c : text) {
    if (!allowed(c)) return false;
  }
  return true;
}

// The literal of the wanted type; nullopt = it is of another.
std::optional<Literal> typed(Type wanted, const Value& value) {
  switch (wanted) {
    case Type::kBoolean:
      if (const auto boolean = to_boolean(value)) return *boolean;
      break;
    case Type::kInteger:
      if (const auto integer = to_integer(value)) return *integer;
      break;
    case Type::kNumber:
      if (const auto number = to_number(value)) return *number;
      break;
  }
  return {};
}

std::optional<Expr> parse_operation(Type wanted, bool nullable, const Value& value,
                                    const std::string& key, Problems& problems) {
  const Value* operation = value.children.size() == 1 ? &value.children.front() : nullptr;
  const bool first = operation != nullptr && operation->key == "first";
  const bool div = operation != nullptr && operation->key == "div";
  if (!first && !div) {
    problems.add(value.position, key, "an expression is { first: [a, b, ...] } or { div: [a, b] }");
    return {};
  }
  const size_t count = operation->children.size();
  if (!operation->is_list() || (first ? count == 0 : count != 2)) {
    problems.add(
        operation->position, join(key, operation->key),
        first ? "expected a list of one or more operands" : "expected a list of two operands");
    return {};
  }
  if (div && wanted == Type::kBoolean) {
    problems.add(operation->position, join(key, "div"), "gives a number, a boolean is expected");
    return {};
  }
  Expr expr;
  expr.kind = first ? Expr::Kind::kFirst : Expr::Kind::kDiv;
  expr.position = value.position;
  expr.key = key;
  bool good = true;
  for (size_t i = 0; i < count; ++i) {
    // Null may stand for "none" as the last resort of `first`, never in arithmetic.
    const std::optional<Expr> operand =
        parse_expression(wanted, first && nullable, operation->children[i],
                         join(join(key, operation->key), std::to_string(i)), problems);
    good = good && operand.has_value();
    if (operand) expr.operands.push_back(*operand);
  }
  if (!good) return {};
  return expr;
}

}  // namespace

const char* type_name(Type type) {
  switch (type) {
    case Type::kBoolean:
      return "true or false";
    case Type::kInteger:
      return "an integer";
    case Type::kNumber:
      return "a number";
  }
  return "";
}

std::optional<Expr> parse_expression(Type wanted, bool nullable, const Value& value,
                                     const std::string& key, Problems& problems) {
  if (value.is_map()) return parse_operation(wanted, nullable, value, key, problems);
  Expr expr;
  expr.position = value.position;
  expr.key = key;
  if (value.is_null() && nullable) return expr;
  if (value.is_scalar() && value.text.starts_with('$')) {
    expr.kind = Expr::Kind::kReference;
    expr.name = value.text.substr(1);
    if (is_reference_name(expr.name)) return expr;
    problems.add(value.position, key, quote(value.text) + " is no reference; write $name");
    return {};
  }
  if (const std::optional<Literal> literal = typed(wanted, value)) {
    expr.literal = *literal;
    return expr;
  }
  problems.add(value.position, key,
               std::string("expected ") + type_name(wanted) + (nullable ? ", null" : "") +
                   ", $name or an expression, found " + describe(value));
  return {};
}

}  // namespace colibri::config
