// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/json.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/base/utf8.h"

namespace colibri::safetensors {
namespace {

namespace od = simdjson::ondemand;

const char* meaning(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::UTF8_ERROR:
      return "it is not UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::UNESCAPED_CHARS:
      return "a string holds a control character";
    case simdjson::STRING_ERROR:
      return "a string holds a wrong escape";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed or out of range";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "a list or an object is not closed, or something follows its end";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "an unquoted word that is not true, false or null";
    default:
      return "a comma, colon, quote or bracket is missing, or something that JSON does not have";
  }
}

}  // namespace

JsonText::JsonText(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), size_(text_.size()) {
  text_.resize(size_ + simdjson::SIMDJSON_PADDING);
}

Status JsonText::open(od::object* root) {
  const simdjson::padded_string_view view(text_.data(), size_, text_.size());
  simdjson::error_code code = parser_.iterate(view).get(document_);
  is_open_ = code == simdjson::SUCCESS;
  if (is_open_) code = document_.get_object().get(*root);
  return code == simdjson::SUCCESS ? Status() : failed(code, "is not a JSON object {...}");
}

Status JsonText::close() {
  const char* location = nullptr;
  if (document_.current_location().get(location) == simdjson::OUT_OF_BOUNDS) return {};
  return malformed("something follows its end");
}

Status JsonText::failed(simdjson::error_code code, const std::string& expected) {
  if (code == simdjson::INCORRECT_TYPE) return corrupt_data(name_ + ": " + expected);
  // What simdjson finds out at the end of the text has no other place.
  if (code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT) {
    return corrupt_data(name_ + ": is not JSON: " + meaning(code));
  }
  return malformed(meaning(code));
}

Status JsonText::malformed(const std::string& what) {
  std::string place = name_;
  const char* location = nullptr;
  if (is_open_ && document_.current_location().get(location) == simdjson::SUCCESS &&
      location >= text_.data() && location <= text_.data() + size_) {
    const std::string_view before(text_.data(), static_cast<size_t>(location - text_.data()));
    const size_t line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const size_t start = before.rfind('\n') + 1;  // npos + 1 = 0
    place += ":" + std::to_string(line) + ":" + std::to_string(before.size() - start + 1);
  }
  return corrupt_data(place + ": is not JSON: " + what);
}

std::string_view scalar_token(od::value value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

std::string token_of(od::value value) {
  const std::string_view token = scalar_token(value);
  if (token.empty()) return "nothing";
  if (token.front() == '{') return "an object";
  if (token.front() == '[') return "a list";
  return utf8::printable(token);
}

Result<uint64_t> read_unsigned(od::value value) {
  const std::string_view token = scalar_token(value);
  const char* const token_end = token.data() + token.size();
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(token.data(), token_end, number);
  const bool leading_zero = token.size() > 1 && token.front() == '0';
  if (code == std::errc::invalid_argument || end != token_end || leading_zero) {
    return corrupt_data("is " + token_of(value) + ", not an integer from 0 on");
  }
  if (code == std::errc::result_out_of_range || number > kLargestInteger) {
    return corrupt_data("is " + utf8::printable(token) + ", above 2^53");
  }
  return number;
}

}  // namespace colibri::safetensors
