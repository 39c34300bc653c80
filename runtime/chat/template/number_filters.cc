// SPDX-License-Identifier: Apache-2.0
// Filters that make numbers.
#include <charconv>
#include <cmath>

#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/python_text.h"

namespace colibri::chat {
namespace {

std::optional<int64_t> truncated(double value) {
  if (!(value > -0x1p63 && value < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(value);
}

Result<Value> int_filter(Call& call) {
  const Value fallback = call[0] == nullptr ? Value(int64_t{0}) : *call[0];
  if (const auto* nothing = as<Undefined>(call.subject)) return invalid_argument(*nothing->why);
  int64_t room = 0;
  if (const int64_t* integer = as_integer(call.subject, room)) return Value(*integer);
  std::optional<double> real;
  if (const auto* number = as<double>(call.subject)) real = *number;
  if (const Text* text = as_text(call.subject)) {
    COLIBRI_ASSIGN(const int64_t base, integer_argument(call[1], 10, "base"));
    COLIBRI_ASSIGN(const auto parsed, parse_integer(text->view(), base));
    if (parsed) return Value(*parsed);
    real = parse_float(text->view());
  }
  if (!real || !std::isfinite(*real)) return fallback;
  const auto whole = truncated(*real);
  if (!whole) return invalid_argument("integers of more than 64 bits are not computed");
  return Value(*whole);
}

Result<Value> float_filter(Call& call) {
  if (const auto* nothing = as<Undefined>(call.subject)) return invalid_argument(*nothing->why);
  if (is_number(call.subject)) return Value(to_double(call.subject));
  if (const Text* text = as_text(call.subject)) {
    if (const auto parsed = parse_float(text->view())) return Value(*parsed);
  }
  return call[0] == nullptr ? Value(0.0) : *call[0];
}

Result<Value> abs_filter(Call& call) {
  if (const auto* real = as<double>(call.subject)) return Value(std::fabs(*real));
  int64_t room = 0;
  const int64_t* integer = as_integer(call.subject, room);
  if (integer == nullptr) return not_usable(call.subject, "has no absolute value");
  if (*integer == INT64_MIN) {
    return invalid_argument("integers of more than 64 bits are not computed");
  }
  return Value(*integer < 0 ? -*integer : *integer);
}

// round(value, digits) of Python: half to even on the exact binary value. Decimal text is exact.
double round_to(double value, int digits) {
  if (!std::isfinite(value)) return value;
  char text[512];
  const auto end =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits);
  double rounded = value;
  std::from_chars(text, end.ptr, rounded);
  return rounded;
}

Result<Value> round_filter(Call& call) {
  COLIBRI_ASSIGN(const int64_t digits, integer_argument(call[0], 0, "precision"));
  COLIBRI_ASSIGN(const Text method, text_argument(call.host.budget, call[1], "common"));
  if (!is_number(call.subject)) return not_usable(call.subject, "cannot be rounded");
  if (digits < 0 || digits > 15) return invalid_argument("round: precision must be 0 to 15");
  const double value = to_double(call.subject);
  if (method.view() == "common") {
    if (as<int64_t>(call.subject) || as<bool>(call.subject)) {
      int64_t room = 0;
      return Value(*as_integer(call.subject, room));
    }
    return Value(round_to(value, static_cast<int>(digits)));
  }
  double scale = 1;
  for (int64_t i = 0; i < digits; ++i) scale *= 10;
  if (method.view() == "ceil") return Value(std::ceil(value * scale) / scale);
  if (method.view() == "floor") return Value(std::floor(value * scale) / scale);
  return invalid_argument("round: the method is common, ceil or floor");
}

Result<Value> length_filter(Call& call) {
  COLIBRI_ASSIGN(const int64_t size, length(call.host.budget, call.subject));
  return Value(size);
}

}  // namespace

const BuiltinTable& number_filters() {
  static const BuiltinTable table = {
      {"abs", "", 0, abs_filter},
      {"count", "", 0, length_filter},
      {"float", "default", 0, float_filter},
      {"int", "default base", 0, int_filter},
      {"length", "", 0, length_filter},
      {"round", "precision method", 0, round_filter},
  };
  return table;
}

}  // namespace colibri::chat
