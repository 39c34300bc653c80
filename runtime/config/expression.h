// SPDX-License-Identifier: Apache-2.0
// Expr: how an architecture document says where a number comes from. Parsed here; evaluated on the
// metadata of a model by runtime/model.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/config/value.h"

namespace colibri::config {

// A value of a document or of a checkpoint's metadata; monostate = null.
using Literal = std::variant<std::monostate, bool, int64_t, double, std::string>;

// What a value must be. An integer is accepted where a number is wanted, never the other way.
enum class Type { kBoolean, kInteger, kNumber };
const char* type_name(Type type);  // "a boolean", "an integer", "a number"

struct Expr {
  enum class Kind {
    kLiteral,    // 10000.0, true, null
    kReference,  // $num_hidden_layers: in `dims` a metadata key, in block options a name of `dims`
    kFirst,  // { first: [a, b, ...] }: the first operand that exists and is not null; null if none
    kDiv,    // { div: [a, b] }: of integers, and it must leave no remainder
  };

  Kind kind = Kind::kLiteral;
  Literal literal;             // of kLiteral; already of the wanted type (1 for a number is 1.0)
  std::string name;            // of kReference, without the $
  std::vector<Expr> operands;  // of kFirst (one or more) and kDiv (two)
  Position position;
  std::string key;  // of the whole expression in its document: "dims.hf.head_dim"

  // What to put before a message about this expression: "mixtral.yaml:14:15: dims.hf.head_dim".
  std::string place() const { return position.text() + ": " + key; }
};

}  // namespace colibri::config
