// SPDX-License-Identifier: Apache-2.0
// Value: a YAML document as this runtime sees it. Scalars are text: a schema gives them their
// types, YAML's own guesses (yes = true, 010 = 8) never do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/problem.h"

namespace colibri::config {

struct Value {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;  // kNull: nothing, ~ or a plain null
  std::string text;         // of a scalar
  bool quoted = false;      // a quoted or block scalar: a string, whatever it looks like
  Position position;        // of the value itself
  std::string variable;     // the environment variable its text came from; empty = none
  std::string key;          // in its map; empty in a list and at the root
  Position key_position;
  std::vector<Value> children;  // items of a list, entries of a map in the order of the file

  bool is_null() const { return kind == Kind::kNull; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }
  const Value* find(std::string_view name) const;  // entry of a map; nullptr = none
  // Entry by dotted path, "sampling.0.plugin"; nullptr = none.
  const Value* at(std::string_view path) const;
};

// Limits of a document: nothing a person writes comes near them.
constexpr size_t kMaxDocumentBytes = size_t{1} << 20;
constexpr size_t kMaxDocumentDepth = 64;
constexpr size_t kMaxChildren = 1024;  // of one list or map

// Parses one YAML document. `name` is what positions call it. Refuses, with a position: aliases,
// anchors, tags, duplicate keys, keys that are not plain text, further documents, text that is not
// UTF-8 or holds NUL, and what exceeds the limits. Returns nothing if the problems make the tree
// unusable.
std::optional<Value> parse_yaml(std::string_view text, const std::string& name, Problems& problems);

// Typed readings of a scalar. Strict: decimal only, the whole text, no leading zeros or plus sign,
// no quotes; nullopt otherwise. to_number refuses infinities and NaN.
std::optional<int64_t> to_integer(const Value& value);
std::optional<double> to_number(const Value& value);  // an integer is a number too
std::optional<bool> to_boolean(const Value& value);   // true or false
// What a value is, for messages: "the text 'abc'", "a list", "nothing".
std::string describe(const Value& value);

}  // namespace colibri::config
