// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "runtime/chat/template/access.h"
#include "runtime/chat/template/arithmetic.h"
#include "runtime/chat/template/compare.h"
#include "runtime/chat/template/evaluator.h"
#include "runtime/chat/template/nesting.h"
#include "runtime/chat/template/python_text.h"

namespace colibri::chat {

using Kind = Expression::Kind;

Result<Value> Evaluator::evaluate(const Expression& expression) {
  const Nesting nesting(depth_);
  if (nesting.beyond(host_.budget.limits().depth)) {
    return source_.error(expression.at, "the template nests more than " +
                                            std::to_string(host_.budget.limits().depth) +
                                            " evaluations: a macro calls itself too often");
  }
  COLIBRI_TRY(placed(expression.at, host_.budget.spend(1)));
  return evaluate_by_kind(expression);
}

Result<Value> Evaluator::evaluate_by_kind(const Expression& expression) {
  switch (expression.kind) {
    case Kind::kConstant:
      return expression.constant;
    case Kind::kName:
      return name(expression);
    case Kind::kList:
      return list(expression, List::Kind::kList);
    case Kind::kTuple:
      return list(expression, List::Kind::kTuple);
    case Kind::kDict:
      return dict(expression);
    case Kind::kAttribute:
    case Kind::kItem:
      return item(expression);
    case Kind::kSlice:
      return slice(expression);
    case Kind::kCall:
      return call(expression);
    case Kind::kFilter:
      return filter(expression);
    case Kind::kTest:
      return test(expression);
    case Kind::kUnary:
      return unary(expression);
    case Kind::kBinary:
      return binary(expression);
    case Kind::kCompare:
      return compare(expression);
    case Kind::kConcat:
      return concat(expression);
    case Kind::kCondition:
      return condition(expression);
  }
  return internal_error("an expression of an unknown kind");
}

Result<Value> Evaluator::name(const Expression& expression) {
  if (const Value* found = scope_->find(expression.name)) return *found;
  if (is_function(expression.name)) return Value(builtin(expression.name));
  return undefined("'" + expression.name + "' is undefined");
}

Result<Value> Evaluator::list(const Expression& expression, List::Kind kind) {
  std::vector<Value> items;
  for (const ExpressionPtr& operand : expression.operands) {
    COLIBRI_ASSIGN(Value item, evaluate(*operand));
    items.push_back(std::move(item));
  }
  return placed(expression.at, make_list(host_.budget, std::move(items), kind));
}

Result<Value> Evaluator::dict(const Expression& expression) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < expression.operands.size(); i += 2) {
    COLIBRI_ASSIGN(Value key, evaluate(*expression.operands[i]));
    COLIBRI_ASSIGN(Value value, evaluate(*expression.operands[i + 1]));
    entries.emplace_back(std::move(key), std::move(value));
  }
  return placed(expression.at, make_dict(host_.budget, std::move(entries)));
}

Result<Value> Evaluator::item(const Expression& expression) {
  COLIBRI_ASSIGN(const Value owner, evaluate(*expression.operands[0]));
  if (expression.kind == Kind::kAttribute) {
    return placed(expression.at, get_attribute(host_.budget, owner, expression.name));
  }
  COLIBRI_ASSIGN(const Value key, evaluate(*expression.operands[1]));
  return placed(expression.at, get_item(host_.budget, owner, key));
}

Result<Value> Evaluator::slice(const Expression& expression) {
  COLIBRI_ASSIGN(const Value owner, evaluate(*expression.operands[0]));
  std::optional<int64_t> bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!expression.operands[i + 1]) continue;
    COLIBRI_ASSIGN(const Value bound, evaluate(*expression.operands[i + 1]));
    if (is_none(bound)) continue;
    COLIBRI_ASSIGN(bounds[i], placed(expression.at, integer_argument(&bound, 0, "a slice")));
  }
  return placed(expression.at, get_slice(host_.budget, owner, {bounds[0], bounds[1], bounds[2]}));
}

Result<Value> Evaluator::unary(const Expression& expression) {
  COLIBRI_ASSIGN(const Value operand, evaluate(*expression.operands[0]));
  if (expression.name == "not") return Value(!truth(operand));
  if (expression.name == "-") return placed(expression.at, negated(operand));
  int64_t room = 0;
  if (const int64_t* integer = as_integer(operand, room)) return Value(*integer);
  if (as<double>(operand)) return operand;
  return placed(expression.at, Result<Value>(not_usable(operand, "is no number")));
}

Result<Value> Evaluator::binary(const Expression& expression) {
  COLIBRI_ASSIGN(Value left, evaluate(*expression.operands[0]));
  if (expression.name == "and" || expression.name == "or") {
    if (truth(left) == (expression.name == "or")) return left;
    return evaluate(*expression.operands[1]);
  }
  COLIBRI_ASSIGN(const Value right, evaluate(*expression.operands[1]));
  return placed(expression.at, arithmetic(host_.budget, expression.name, left, right));
}

Result<bool> Evaluator::compare_pair(const std::string& op, const Value& a, const Value& b) {
  Budget& budget = host_.budget;
  if (op == "<") return less(budget, a, b);
  if (op == ">") return less(budget, b, a);
  if (op == "in") return contains(budget, b, a);
  if (op == "not in") {
    COLIBRI_ASSIGN(const bool there, contains(budget, b, a));
    return !there;
  }
  if (op == "<=" || op == ">=") {
    COLIBRI_ASSIGN(const bool strictly, op == "<=" ? less(budget, a, b) : less(budget, b, a));
    if (strictly) return true;
    return equal(budget, a, b);
  }
  COLIBRI_ASSIGN(const bool same, equal(budget, a, b));
  return same == (op == "==");
}

Result<Value> Evaluator::compare(const Expression& expression) {
  COLIBRI_ASSIGN(Value left, evaluate(*expression.operands[0]));
  for (size_t i = 0; i < expression.names.size(); ++i) {
    COLIBRI_ASSIGN(Value right, evaluate(*expression.operands[i + 1]));
    COLIBRI_ASSIGN(const bool holds,
                   placed(expression.at, compare_pair(expression.names[i], left, right)));
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Evaluator::concat(const Expression& expression) {
  TextBuilder builder(host_.budget);
  for (const ExpressionPtr& operand : expression.operands) {
    COLIBRI_ASSIGN(const Value value, evaluate(*operand));
    COLIBRI_ASSIGN(const Text text, placed(operand->at, to_text(host_.budget, value)));
    builder.add(text);
  }
  COLIBRI_TRY(placed(expression.at, host_.budget.spend_on(builder.size())));
  COLIBRI_ASSIGN(Text made, placed(expression.at, builder.finish()));
  return Value(std::move(made));
}

Result<Value> Evaluator::condition(const Expression& expression) {
  COLIBRI_ASSIGN(const Value holds, evaluate(*expression.operands[0]));
  if (truth(holds)) return evaluate(*expression.operands[1]);
  if (expression.operands[2]) return evaluate(*expression.operands[2]);
  return undefined("the condition does not hold and there is no 'else'");
}

Result<Arguments> Evaluator::arguments(const Expression& expression) {
  Arguments made;
  for (size_t i = 1; i < expression.operands.size(); ++i) {
    COLIBRI_ASSIGN(Value value, evaluate(*expression.operands[i]));
    made.positional.push_back(std::move(value));
  }
  for (const auto& [name, operand] : expression.keywords) {
    COLIBRI_ASSIGN(Value value, evaluate(*operand));
    made.named.emplace_back(name, std::move(value));
  }
  return made;
}

Result<Value> Evaluator::filter(const Expression& expression) {
  Value subject;
  if (expression.operands[0]) {
    COLIBRI_ASSIGN(subject, evaluate(*expression.operands[0]));
  } else {
    subject = *filtered_;
  }
  COLIBRI_ASSIGN(const Arguments given, arguments(expression));
  return placed(expression.at, call_filter(host_, expression.name, subject, given));
}

Result<Value> Evaluator::test(const Expression& expression) {
  COLIBRI_ASSIGN(const Value subject, evaluate(*expression.operands[0]));
  COLIBRI_ASSIGN(const Arguments given, arguments(expression));
  COLIBRI_ASSIGN(const bool answer,
                 placed(expression.at, call_test(host_, expression.name, subject, given)));
  return Value(answer);
}

Result<Value> Evaluator::call(const Expression& expression) {
  const Expression& callee = *expression.operands[0];
  if (callee.kind == Kind::kAttribute) {
    COLIBRI_ASSIGN(const Value owner, evaluate(*callee.operands[0]));
    COLIBRI_ASSIGN(const Value value,
                   placed(callee.at, get_attribute(host_.budget, owner, callee.name)));
    COLIBRI_ASSIGN(const Arguments given, arguments(expression));
    if (as<const Macro*>(value)) return call_value(expression, value, given);
    return placed(callee.at, call_method(host_, callee.name, owner, given));
  }
  COLIBRI_ASSIGN(const Value value, evaluate(callee));
  COLIBRI_ASSIGN(const Arguments given, arguments(expression));
  return call_value(expression, value, given);
}

Result<Value> Evaluator::call_value(const Expression& expression, const Value& callee,
                                    const Arguments& arguments) {
  if (const auto* macro = as<const Macro*>(callee)) {
    return call_macro(**macro, arguments);
  }
  const size_t at = expression.operands[0]->at;
  if (const auto* known = as<Builtin>(callee); known != nullptr && is_function(*known->name)) {
    return placed(at, call_function(host_, *known->name, arguments));
  }
  return placed(at, Result<Value>(not_usable(callee, "cannot be called")));
}

Result<Value> Evaluator::call_macro(const Macro& macro, const Arguments& arguments) {
  // A macro sees its own names and those of the whole template, not those around its call.
  Scope scope{&root_};
  COLIBRI_TRY(bind(macro, arguments, scope));
  COLIBRI_ASSIGN(Text text, written(macro.body, scope));
  return Value(std::move(text));
}

Status Evaluator::bind(const Macro& macro, const Arguments& arguments, Scope& scope) {
  const std::string who = "the macro '" + macro.name + "' ";
  if (arguments.positional.size() > macro.parameters.size()) {
    return source_.error(macro.at, who + "takes " + std::to_string(macro.parameters.size()) +
                                       " arguments, not " +
                                       std::to_string(arguments.positional.size()));
  }
  for (const auto& [name, value] : arguments.named) {
    size_t i = 0;
    while (i < macro.parameters.size() && macro.parameters[i].name != name) ++i;
    if (i == macro.parameters.size()) {
      return source_.error(macro.at, who + "has no parameter '" + name + "'");
    }
    if (i < arguments.positional.size()) {
      return source_.error(macro.at, who + "is given '" + name + "' twice");
    }
    scope.set(macro.parameters[i].name, value);
  }
  Scope* const outside = std::exchange(scope_, &scope);
  Status status;
  for (size_t i = 0; i < macro.parameters.size() && status.ok(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    if (i < arguments.positional.size()) {
      scope.set(parameter.name, arguments.positional[i]);
      continue;
    }
    const auto named = [&](const auto& argument) { return argument.first == parameter.name; };
    if (std::any_of(arguments.named.begin(), arguments.named.end(), named)) continue;
    Result<Value> fallback =
        parameter.fallback
            ? evaluate(*parameter.fallback)
            : Result<Value>(undefined("parameter '" + parameter.name + "' was not provided"));
    status = fallback.status();
    if (fallback.ok()) scope.set(parameter.name, std::move(*fallback));
  }
  scope_ = outside;
  return status;
}

}  // namespace colibri::chat
