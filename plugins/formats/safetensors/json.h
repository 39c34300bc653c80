// SPDX-License-Identifier: Apache-2.0
// JSON of a checkpoint, read value by value with simdjson; errors say file, line and column.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::safetensors {

// The largest integer up to which every JSON reader agrees.
constexpr uint64_t kLargestInteger = uint64_t{1} << 53;

// One text while it is being read. Not thread-safe, does not move.
class JsonText {
 public:
  // `name` is what messages call the text.
  JsonText(std::string name, std::string text);
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  // The members of the text, which must be one object.
  Status open(simdjson::ondemand::object* root);
  // After the last member: nothing but spaces may follow.
  Status close();

  const std::string& name() const { return name_; }
  // What a failed simdjson call means: a wrong type is "name: expected", anything else is no JSON,
  // with the place.
  Status failed(simdjson::error_code code, const std::string& expected);

 private:
  Status malformed(const std::string& what);

  std::string name_;
  std::string text_;  // followed by simdjson's padding
  size_t size_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  bool is_open_ = false;
};

// A scalar as it is written; of a list or an object the bracket.
std::string_view scalar_token(simdjson::ondemand::value value);
// A value as text for messages: a scalar as it is written, or "a list", "an object".
std::string token_of(simdjson::ondemand::value value);

// A JSON number without sign, fraction and exponent, at most kLargestInteger. The error says what
// stands there instead.
Result<uint64_t> read_unsigned(simdjson::ondemand::value value);

}  // namespace colibri::safetensors
