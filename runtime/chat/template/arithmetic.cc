// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/arithmetic.h"

#include <cmath>

namespace colibri::chat {
namespace {

Status no_operator(std::string_view op, const Value& a, const Value& b) {
  for (const Value* value : {&a, &b}) {
    if (const auto* nothing = as<Undefined>(*value)) return invalid_argument(*nothing->why);
  }
  return invalid_argument("'" + std::string(op) + "' does not work on '" + type_name(a) +
                          "' and '" + type_name(b) + "'");
}

Status too_large() {
  return invalid_argument("integers of more than 64 bits are not computed");
}

Result<Value> power(int64_t base, int64_t exponent) {
  if (exponent < 0) return invalid_argument("'**' is not computed for negative exponents");
  int64_t result = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) return too_large();
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return too_large();
  }
  return Value(result);
}

Result<Value> integers(std::string_view op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (op == "+") return __builtin_add_overflow(a, b, &result) ? too_large() : Result<Value>(result);
  if (op == "-") return __builtin_sub_overflow(a, b, &result) ? too_large() : Result<Value>(result);
  if (op == "*") return __builtin_mul_overflow(a, b, &result) ? too_large() : Result<Value>(result);
  if (op == "**") return power(a, b);
  if (b == 0) return invalid_argument("division by zero");
  if (op == "/") return Value(static_cast<double>(a) / static_cast<double>(b));
  if (a == INT64_MIN && b == -1) return op == "%" ? Result<Value>(int64_t{0}) : too_large();
  int64_t quotient = a / b;
  int64_t rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) {  // Python rounds towards minus infinity
    --quotient;
    rest += b;
  }
  return Value(op == "//" ? quotient : rest);
}

Result<Value> reals(std::string_view op, double a, double b) {
  if (op == "+") return Value(a + b);
  if (op == "-") return Value(a - b);
  if (op == "*") return Value(a * b);
  if (op == "**") return invalid_argument("'**' is computed for integers only");
  if (b == 0) return invalid_argument("division by zero");
  if (op == "/") return Value(a / b);
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    rest += b;
    quotient -= 1;
  }
  if (op == "%") return Value(rest == 0 ? std::copysign(0.0, b) : rest);
  const double whole = std::floor(quotient);
  return Value(quotient == 0            ? std::copysign(0.0, a / b)
               : quotient - whole > 0.5 ? whole + 1
                                        : whole);
}

Result<Value> repeated(Budget& budget, const Value& what, int64_t times) {
  if (times < 0) times = 0;
  const Text* text = as_text(what);
  const List* list = as_list(what);
  const uint64_t size = text != nullptr ? text->size() : list->items.size() * sizeof(Value);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(size, static_cast<uint64_t>(times), &bytes)) bytes = UINT64_MAX;
  COLIBRI_TRY(budget.allocate(bytes));
  if (size == 0) times = 0;
  COLIBRI_TRY(budget.spend_on(bytes));
  if (text != nullptr) {
    TextBuilder builder(budget);
    for (int64_t i = 0; i < times; ++i) builder.add(*text);
    COLIBRI_ASSIGN(Text made, builder.finish());
    return Value(std::move(made));
  }
  std::vector<Value> items;
  for (int64_t i = 0; i < times; ++i) {
    items.insert(items.end(), list->items.begin(), list->items.end());
  }
  return make_list(budget, std::move(items), list->kind);
}

bool is_sequence(const Value& value) {
  const List* list = as_list(value);
  return as_text(value) || (list != nullptr && list->kind <= List::Kind::kTuple);
}

Result<Value> joined(Budget& budget, const Value& a, const Value& b) {
  if (as_text(a) && as_text(b)) {
    COLIBRI_TRY(budget.spend_on(as_text(a)->size() + as_text(b)->size()));
    TextBuilder builder(budget);
    builder.add(*as_text(a));
    builder.add(*as_text(b));
    COLIBRI_ASSIGN(Text made, builder.finish());
    return Value(std::move(made));
  }
  const List* first = as_list(a);
  const List* second = as_list(b);
  if (first == nullptr || second == nullptr || first->kind != second->kind) {
    return no_operator("+", a, b);
  }
  COLIBRI_TRY(budget.spend(first->items.size() + second->items.size()));
  std::vector<Value> items = first->items;
  items.insert(items.end(), second->items.begin(), second->items.end());
  return make_list(budget, std::move(items), first->kind);
}

}  // namespace

Result<Value> arithmetic(Budget& budget, std::string_view op, const Value& a, const Value& b) {
  int64_t room_a = 0, room_b = 0;
  const int64_t* x = as_integer(a, room_a);
  const int64_t* y = as_integer(b, room_b);
  if (x != nullptr && y != nullptr) return integers(op, *x, *y);
  if (is_number(a) && is_number(b)) return reals(op, to_double(a), to_double(b));
  if (op == "*" && is_sequence(a) && y != nullptr) return repeated(budget, a, *y);
  if (op == "*" && is_sequence(b) && x != nullptr) return repeated(budget, b, *x);
  if (op == "+" && is_sequence(a) && is_sequence(b)) return joined(budget, a, b);
  if (op == "%" && as_text(a)) {
    return invalid_argument("formatting of text by '%' is not supported; join texts with '~'");
  }
  return no_operator(op, a, b);
}

Result<Value> negated(const Value& value) {
  if (const auto* real = as<double>(value)) return Value(-*real);
  int64_t room = 0;
  const int64_t* integer = as_integer(value, room);
  if (integer == nullptr) return not_usable(value, "has no negative");
  if (*integer == INT64_MIN) return too_large();
  return Value(-*integer);
}

}  // namespace colibri::chat
