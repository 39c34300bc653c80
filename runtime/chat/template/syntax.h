// SPDX-License-Identifier: Apache-2.0
// The tree of a template.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chat/template/value.h"

namespace colibri::chat {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Expression {
  enum class Kind {
    kConstant,
    kName,
    kList,       // operands: items
    kTuple,      // operands: items
    kDict,       // operands: key, value, key, value, ...
    kAttribute,  // operands[0].name
    kItem,       // operands[0][operands[1]]
    kSlice,      // operands[0][operands[1]:operands[2]:operands[3]]; null where nothing is given
    kCall,       // operands[0](operands[1...], keywords)
    kFilter,     // operands[0] | name(operands[1...], keywords)
    kTest,       // operands[0] is name(operands[1...], keywords)
    kUnary,      // name: "-", "+", "not"
    kBinary,     // name: an arithmetic operator, "and", "or"
    kCompare,    // operands[0] names[0] operands[1] names[1] operands[2] ...
    kConcat,     // operands joined by ~
    kCondition   // operands[1] if operands[0] else operands[2], which may be null
  };
  Kind kind;
  size_t at;  // byte of the source
  std::string name;
  Value constant;
  std::vector<ExpressionPtr> operands;
  std::vector<std::pair<std::string, ExpressionPtr>> keywords;
  std::vector<std::string> names;
  int depth = 1;  // of the tree below
};

// What `set` and `for` fill: a name, an attribute of a namespace, or several targets.
struct Target {
  std::string name, attribute;  // attribute: empty unless name.attribute
  std::vector<Target> parts;    // of `a, b`; then name is empty
  size_t at = 0;
};

struct Statement;
using Block = std::vector<std::unique_ptr<const Statement>>;

struct Parameter {
  std::string name;
  ExpressionPtr fallback;  // null = none
};
struct Macro {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  size_t at = 0;
};

struct Statement {
  enum class Kind {
    kText,      // text
    kPrint,     // value
    kIf,        // branches, and otherwise
    kFor,       // for target in value if condition: body, and otherwise
    kSet,       // target = value
    kSetBlock,  // target = body | filter
    kFilter,    // body | filter
    kMacro,
    kScope,  // body, with names of its own: generation, with
    kBreak,
    kContinue
  };
  struct Branch {
    ExpressionPtr condition;
    Block body;
  };
  Statement(Kind its_kind, size_t its_place) : kind(its_kind), at(its_place) {}

  Kind kind;
  size_t at;
  Text text;
  ExpressionPtr value;
  ExpressionPtr condition;
  Target target;
  std::vector<Branch> branches;
  Block body, otherwise;
  ExpressionPtr filter;  // a chain of filters whose innermost operand is null: the text goes there
  std::vector<std::pair<Target, ExpressionPtr>> bindings;  // of `with`
  Macro macro;
};

}  // namespace colibri::chat
