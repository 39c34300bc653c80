// SPDX-License-Identifier: Apache-2.0
// Checked reading of JSON: every access says what it expects and where, so that no field of a
// hostile file is taken on trust. A Value is valid as long as the simdjson parser that made it.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::tokenizers {

class Fields;

// A JSON value and the place it stands at, e.g. "tokenizer.json: pre_tokenizer.pretokenizers[1]".
class Value {
 public:
  Value(simdjson::dom::element element, std::string path)
      : element_(element), path_(std::move(path)) {}

  const simdjson::dom::element& element() const { return element_; }
  const std::string& path() const { return path_; }
  bool is_null() const { return element_.is_null(); }

  Result<bool> boolean() const;
  Result<std::string_view> string() const;
  Result<int32_t> integer(int32_t limit) const;  // in [0, limit)
  Result<std::vector<Value>> array() const;
  // The members of an object. A key that is not in `known`, or stands there twice, is refused: it
  // might change what the object means.
  Result<Fields> fields(std::initializer_list<std::string_view> known) const;
  // The string member "type" of an object.
  Result<std::string_view> type() const;

  // "<path>: <what>" as COLIBRI_CORRUPT_DATA or COLIBRI_UNSUPPORTED; "<path>: expected <what>" as
  // COLIBRI_CORRUPT_DATA.
  Status corrupt(const std::string& what) const;
  Status refused(const std::string& what) const;
  Status expected(const std::string& what) const;

 private:
  simdjson::dom::element element_;
  std::string path_;
};

class Fields {
 public:
  Fields(simdjson::dom::object object, std::string path)
      : object_(object), path_(std::move(path)) {}

  Result<Value> required(std::string_view key) const;
  // Nothing if the key is absent or its value is null.
  std::optional<Value> find(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<bool> boolean_or(std::string_view key, bool absent) const;

 private:
  simdjson::dom::object object_;
  std::string path_;
};

// Parses one document of at most 64 levels. `file` begins the path of every message.
Result<Value> parse_json(simdjson::dom::parser& parser, std::string_view bytes,
                         const std::string& file);

}  // namespace colibri::tokenizers
