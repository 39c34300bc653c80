// SPDX-License-Identifier: Apache-2.0
// Expr: how an architecture document says where a value comes from. Parsed here; evaluated on the
// metadata of a model by runtime/model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/config/value.h"

namespace colibri::config {

using Scalar = std::variant<std::monostate, bool, int64_t, double, std::string>;
// A value of a document or of a checkpoint's metadata; monostate = null.
using Literal =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<Scalar>>;

// What a value must be. An integer is accepted where a number is wanted, and everything but a list
// where a text is wanted ("8", "true"); never the other way.
enum class Type { kBoolean, kInteger, kNumber, kText, kBooleans, kIntegers, kTexts };
const char* type_name(Type type);  // "true or false", "an integer", "a list of integers"
bool is_list(Type type);
Type element_type(Type type);  // of a list

struct Expr {
  enum class Kind {
    kLiteral,    // 10000.0, true, null, [1, 2]
    kReference,  // $num_hidden_layers: in `dims` a metadata key, in block options a name of `dims`
    kFirst,   // { first: [a, b, ...] }: the first operand that exists and is not null; null if none
    kAdd,     // { add: [a, b] }
    kSub,     // { sub: [a, b] }: a - b
    kMul,     // { mul: [a, b] }: where an integer is wanted, of numbers, cut off to an integer
    kDiv,     // { div: [a, b] }: of integers, and it must leave no remainder
    kCount,   // { count: $name }: the elements of a list
    kGiven,   // { given: $name }: whether there is one and it is not null
    kTensor,  // { tensor: NAME }: whether the checkpoint has a tensor of this name
    kMap,     // { map: [a, { case: b, ... }] }: the b whose case is the text of a; of a list, each
  };

  Kind kind = Kind::kLiteral;
  Literal literal;             // of kLiteral; already of the wanted type (1 for a number is 1.0)
  std::string name;            // of kReference, without the $; of kTensor
  std::vector<Expr> operands;  // kFirst: one or more; arithmetic: two; kCount, kGiven: a reference;
                               // kMap: a, then one for each case
  std::vector<std::string> cases;  // of kMap
  Position position;
  std::string key;  // of the whole expression in its document: "dims.hf.head_dim"

  // What to put before a message about this expression: "mixtral.yaml:14:15: dims.hf.head_dim".
  std::string place() const { return position.text() + ": " + key; }
};

// What operand i of an operation must be, where the operation itself must be `wanted`.
Type operand_type(const Expr& expr, size_t i, Type wanted);

}  // namespace colibri::config
