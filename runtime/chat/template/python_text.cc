// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/python_text.h"

#include <utf8proc.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "runtime/chat/template/characters.h"

namespace colibri::chat {
namespace {

std::string hexadecimal(char32_t c, int digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += kDigits[(c >> (4 * i)) & 15];
  return text;
}

// str.isprintable of one character.
bool printable(char32_t c) {
  if (c == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

std::string escaped(char32_t c, char quote) {
  if (c == '\\' || c == static_cast<char32_t>(quote)) {
    return std::string("\\") + static_cast<char>(c);
  }
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (printable(c)) return {};
  if (c < 0x100) return "\\x" + hexadecimal(c, 2);
  if (c < 0x10000) return "\\u" + hexadecimal(c, 4);
  return "\\U" + hexadecimal(c, 8);
}

Status add_value_repr(Budget& budget, const Value& value, TextBuilder& to);

Status add_items(Budget& budget, const std::vector<Value>& items, const char* open,
                 const char* close, TextBuilder& to) {
  to.add(open, true);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) to.add(", ", true);
    COLIBRI_TRY(add_value_repr(budget, items[i], to));
  }
  to.add(close, true);
  return {};
}

Status add_list(Budget& budget, const List& list, TextBuilder& to) {
  switch (list.kind) {
    case List::Kind::kList:
      return add_items(budget, list.items, "[", "]", to);
    case List::Kind::kTuple:
      return add_items(budget, list.items, "(", list.items.size() == 1 ? ",)" : ")", to);
    default:
      return invalid_argument("a " + type_name(Value(std::make_shared<const List>(list))) +
                              " has no text of its own; put |list behind it");
  }
}

Status add_dict(Budget& budget, const Dict& dict, TextBuilder& to) {
  to.add("{", true);
  bool first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!first) to.add(", ", true);
    first = false;
    COLIBRI_TRY(add_value_repr(budget, key, to));
    to.add(": ", true);
    COLIBRI_TRY(add_value_repr(budget, value, to));
  }
  to.add("}", true);
  return {};
}

std::optional<std::string> scalar_text(const Value& value) {
  if (is_none(value)) return "None";
  if (const auto* boolean = as<bool>(value)) return *boolean ? "True" : "False";
  if (const auto* integer = as<int64_t>(value)) return std::to_string(*integer);
  if (const auto* real = as<double>(value)) return float_text(*real);
  return std::nullopt;
}

Status add_value_repr(Budget& budget, const Value& value, TextBuilder& to) {
  COLIBRI_TRY(budget.spend(1));
  if (const auto scalar = scalar_text(value)) {
    to.add(*scalar, true);
    return {};
  }
  if (const Text* text = as_text(value)) {
    COLIBRI_TRY(budget.spend_on(text->size()));
    add_repr(*text, to);
    return {};
  }
  if (const List* list = as_list(value)) return add_list(budget, *list, to);
  if (const Dict* dict = as_dict(value)) return add_dict(budget, *dict, to);
  if (is_undefined(value)) {
    to.add("Undefined", true);
    return {};
  }
  return not_usable(value, "has no text of its own");
}

// int() takes digits of any script; ours are enough. Single underscores between digits are fine.
std::optional<std::string> digits_of(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits += text[i];
    } else if (i == 0 || i + 1 == text.size() || text[i - 1] == '_') {
      return std::nullopt;
    }
  }
  return digits;
}

std::string_view stripped(std::string_view text) {
  text.remove_prefix(leading(text, is_space));
  text.remove_suffix(trailing(text, is_space));
  return text;
}

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
  const size_t e = text.find('e');
  int exponent = 0;
  const bool minus = text[e + 1] == '-';
  std::from_chars(text.data() + e + 2, end.ptr, exponent);
  if (minus) exponent = -exponent;
  if (exponent < -4 || exponent >= 16) {  // Python writes at least two digits of exponent, too
    return std::string(text);
  }
  const auto fixed =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed);
  std::string result(buffer, static_cast<size_t>(fixed.ptr - buffer));
  return result.find('.') == std::string::npos ? result + ".0" : result;
}

void add_repr(const Text& text, TextBuilder& to) {
  const std::string_view bytes = text.view();
  const bool single = bytes.find('\'') == bytes.npos || bytes.find('"') != bytes.npos;
  const char quote = single ? '\'' : '"';
  to.add(std::string_view(&quote, 1), true);
  size_t at = 0;
  for (const Text::Run& run : text.runs()) {
    for (size_t plain = at; at < run.end;) {
      const utf8::Character c = utf8::decode(bytes, at);
      const std::string replaced = escaped(c.code_point, quote);
      at += c.size;
      if (replaced.empty() && at < run.end) continue;
      const size_t until = replaced.empty() ? at : at - c.size;
      to.add(bytes.substr(plain, until - plain), run.trusted);
      to.add(replaced, run.trusted);
      plain = at;
    }
  }
  to.add(std::string_view(&quote, 1), true);
}

Result<Text> to_text(Budget& budget, const Value& value) {
  if (const Text* text = as_text(value)) return *text;
  if (is_undefined(value)) return Text();
  TextBuilder builder(budget);
  COLIBRI_TRY(add_value_repr(budget, value, builder));
  return builder.finish();
}

Result<std::optional<int64_t>> parse_integer(std::string_view text, int64_t base) {
  using Parsed = std::optional<int64_t>;
  if (base != 0 && (base < 2 || base > 36)) {
    return invalid_argument("int(): the base must be 0 or 2 to 36");
  }
  text = stripped(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto prefixed = [&](char letter, int64_t its_base) {
    return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter &&
           (base == 0 || base == its_base);
  };
  for (const auto& [letter, its_base] : {std::pair('x', 16), {'o', 8}, {'b', 2}}) {
    if (!prefixed(letter, its_base)) continue;
    base = its_base;
    text.remove_prefix(2);
    if (text[0] == '_') text.remove_prefix(1);
    break;
  }
  if (base == 0) {
    base = 10;
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of("0_") != text.npos) {
      return Parsed();
    }
  }
  const auto digits = digits_of(text);
  if (!digits || digits->empty() || (*digits)[0] == '-') return Parsed();
  int64_t value = 0;
  const std::string signed_digits = (negative ? "-" : "") + *digits;
  const char* end = signed_digits.data() + signed_digits.size();
  const auto read = std::from_chars(signed_digits.data(), end, value, static_cast<int>(base));
  if (read.ec == std::errc::result_out_of_range && read.ptr == end) {
    return invalid_argument("integers of more than 64 bits are not computed");
  }
  if (read.ec != std::errc() || read.ptr != end) return Parsed();
  return Parsed(value);
}

std::optional<double> parse_float(std::string_view text) {
  text = stripped(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  const auto digits = digits_of(text);
  if (!digits) return std::nullopt;
  double value = 0;
  const char* end = digits->data() + digits->size();
  const auto read = std::from_chars(digits->data(), end, value);
  if (read.ptr != end || read.ec == std::errc::invalid_argument) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) {  // beyond double: strtod says to which side
    value = std::strtod(digits->c_str(), nullptr);
  }
  return negative ? -value : value;
}

}  // namespace colibri::chat
