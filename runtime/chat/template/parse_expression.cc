// SPDX-License-Identifier: Apache-2.0
// Expressions, by Jinja's rules of precedence (https://jinja.palletsprojects.com/templates/):
// weakest first: if-else, or, and, not, comparisons, + -, ~, * / // %, **, unary, filters, tests.
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/nesting.h"
#include "runtime/chat/template/parser.h"
#include "runtime/config/problem.h"

namespace colibri::chat {

using Kind = Expression::Kind;

std::unique_ptr<Expression> Parser::node(Kind kind, size_t at, std::string name) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->at = at;
  made->name = std::move(name);
  return made;
}

Result<ExpressionPtr> Parser::done(std::unique_ptr<Expression> made) const {
  const auto deepen = [&](const ExpressionPtr& child) {
    if (child) made->depth = std::max(made->depth, child->depth + 1);
  };
  for (const ExpressionPtr& child : made->operands) deepen(child);
  for (const auto& keyword : made->keywords) deepen(keyword.second);
  if (made->depth > kMostTreeDepth) {
    return source_.error(
        made->at, "the expression is nested more than " + std::to_string(kMostTreeDepth) + " deep");
  }
  return ExpressionPtr(std::move(made));
}

Result<ExpressionPtr> Parser::expression(bool conditions) {
  const Nesting nesting(nesting_);
  if (nesting.beyond(kMostNesting)) {
    return source_.error(
        now().at, "expressions are nested more than " + std::to_string(kMostNesting) + " deep");
  }
  return conditions ? condition() : logical("or");
}

Result<ExpressionPtr> Parser::tuple(bool conditions, std::string_view end, bool parentheses) {
  const size_t at = now().at;
  auto made = node(Kind::kTuple, at);
  bool comma = false;
  for (;;) {
    if (is(Token::Kind::kPrintEnd) || is(Token::Kind::kBlockEnd) || is_operator(")") ||
        (!end.empty() && is_name(end))) {
      break;
    }
    COLIBRI_ASSIGN(ExpressionPtr item, expression(conditions));
    made->operands.push_back(std::move(item));
    if (!take_operator(",")) break;
    comma = true;
  }
  if (!comma && made->operands.size() == 1) {
    ExpressionPtr only = std::move(made->operands[0]);
    return only;
  }
  if (made->operands.empty() && !parentheses) return expected("an expression");
  return done(std::move(made));
}

Result<ExpressionPtr> Parser::condition() {
  COLIBRI_ASSIGN(ExpressionPtr value, logical("or"));
  while (is_name("if")) {
    auto made = node(Kind::kCondition, now().at);
    ++at_;
    COLIBRI_ASSIGN(ExpressionPtr test, logical("or"));
    ExpressionPtr otherwise;
    if (take_name("else")) {
      COLIBRI_ASSIGN(otherwise, expression());
    }
    made->operands.push_back(std::move(test));
    made->operands.push_back(std::move(value));
    made->operands.push_back(std::move(otherwise));
    COLIBRI_ASSIGN(value, done(std::move(made)));
  }
  return value;
}

Result<ExpressionPtr> Parser::logical(std::string_view word) {
  const bool weakest = word == "or";
  COLIBRI_ASSIGN(ExpressionPtr left, weakest ? logical("and") : negation());
  while (is_name(word)) {
    auto made = node(Kind::kBinary, now().at, std::string(word));
    ++at_;
    COLIBRI_ASSIGN(ExpressionPtr right, weakest ? logical("and") : negation());
    made->operands.push_back(std::move(left));
    made->operands.push_back(std::move(right));
    COLIBRI_ASSIGN(left, done(std::move(made)));
  }
  return left;
}

Result<ExpressionPtr> Parser::negation() {
  if (!is_name("not")) return comparison();
  const Nesting nesting(nesting_);
  if (nesting.beyond(kMostNesting)) return source_.error(now().at, "too many 'not'");
  auto made = node(Kind::kUnary, now().at, "not");
  ++at_;
  COLIBRI_ASSIGN(ExpressionPtr operand, negation());
  made->operands.push_back(std::move(operand));
  return done(std::move(made));
}

Result<ExpressionPtr> Parser::comparison() {
  static constexpr std::string_view kOperators[] = {"==", "!=", "<", "<=", ">", ">="};
  const size_t at = now().at;
  COLIBRI_ASSIGN(ExpressionPtr first, sum());
  std::unique_ptr<Expression> made;
  for (;;) {
    std::string op;
    if (is(Token::Kind::kOperator) && std::find(std::begin(kOperators), std::end(kOperators),
                                                now().text) != std::end(kOperators)) {
      op = now().text;
    } else if (is_name("in")) {
      op = "in";
    } else if (is_name("not") && matches(after(), Token::Kind::kName, "in")) {
      op = "not in";
      ++at_;
    } else {
      break;
    }
    ++at_;
    if (!made) {
      made = node(Kind::kCompare, at);
      made->operands.push_back(std::move(first));
    }
    made->names.push_back(op);
    COLIBRI_ASSIGN(ExpressionPtr next, sum());
    made->operands.push_back(std::move(next));
  }
  return made ? done(std::move(made)) : Result<ExpressionPtr>(std::move(first));
}

Result<ExpressionPtr> Parser::sum() {
  COLIBRI_ASSIGN(ExpressionPtr left, concatenation());
  while (is_operator("+") || is_operator("-")) {
    auto made = node(Kind::kBinary, now().at, now().text);
    ++at_;
    COLIBRI_ASSIGN(ExpressionPtr right, concatenation());
    made->operands.push_back(std::move(left));
    made->operands.push_back(std::move(right));
    COLIBRI_ASSIGN(left, done(std::move(made)));
  }
  return left;
}

Result<ExpressionPtr> Parser::concatenation() {
  const size_t at = now().at;
  COLIBRI_ASSIGN(ExpressionPtr first, product());
  if (!is_operator("~")) return first;
  auto made = node(Kind::kConcat, at);
  made->operands.push_back(std::move(first));
  while (take_operator("~")) {
    COLIBRI_ASSIGN(ExpressionPtr next, product());
    made->operands.push_back(std::move(next));
  }
  return done(std::move(made));
}

Result<ExpressionPtr> Parser::product() {
  COLIBRI_ASSIGN(ExpressionPtr left, power());
  while (is_operator("*") || is_operator("/") || is_operator("//") || is_operator("%")) {
    auto made = node(Kind::kBinary, now().at, now().text);
    ++at_;
    COLIBRI_ASSIGN(ExpressionPtr right, power());
    made->operands.push_back(std::move(left));
    made->operands.push_back(std::move(right));
    COLIBRI_ASSIGN(left, done(std::move(made)));
  }
  return left;
}

Result<ExpressionPtr> Parser::power() {
  COLIBRI_ASSIGN(ExpressionPtr left, unary());
  while (is_operator("**")) {
    auto made = node(Kind::kBinary, now().at, "**");
    ++at_;
    COLIBRI_ASSIGN(ExpressionPtr right, unary());
    made->operands.push_back(std::move(left));
    made->operands.push_back(std::move(right));
    COLIBRI_ASSIGN(left, done(std::move(made)));
  }
  return left;
}

Result<ExpressionPtr> Parser::unary(bool filters) {
  ExpressionPtr value;
  if (is_operator("-") || is_operator("+")) {
    const Nesting nesting(nesting_);
    if (nesting.beyond(kMostNesting)) return source_.error(now().at, "too many signs");
    auto made = node(Kind::kUnary, now().at, now().text);
    ++at_;
    COLIBRI_ASSIGN(ExpressionPtr operand, unary(false));
    made->operands.push_back(std::move(operand));
    COLIBRI_ASSIGN(value, done(std::move(made)));
  } else {
    COLIBRI_ASSIGN(value, primary());
  }
  COLIBRI_ASSIGN(value, postfix(std::move(value)));
  if (!filters) return value;
  return filters_and_tests(std::move(value));
}

Result<ExpressionPtr> Parser::filters_and_tests(ExpressionPtr operand) {
  for (;;) {
    if (is_operator("|")) {
      COLIBRI_ASSIGN(operand, filter(std::move(operand)));
    } else if (is_name("is")) {
      COLIBRI_ASSIGN(operand, test(std::move(operand)));
    } else if (is_operator("(")) {
      COLIBRI_ASSIGN(operand, call(std::move(operand)));
    } else {
      return operand;
    }
  }
}

// From the '|' on. The operand is null where a block of text is filtered.
Result<ExpressionPtr> Parser::filter(ExpressionPtr operand) {
  ++at_;
  auto made = node(Kind::kFilter, now().at);
  COLIBRI_ASSIGN(made->name, expect_name("the name of a filter"));
  if (!is_filter(made->name)) {
    return source_.error(made->at, "unknown filter '" + made->name + "'" +
                                       config::suggestion(made->name, filter_names()));
  }
  made->operands.push_back(std::move(operand));
  if (is_operator("(")) COLIBRI_TRY(arguments(*made));
  COLIBRI_TRY(check_named(*made));
  return done(std::move(made));
}

// map('upper') and select('string') name a filter and a test.
Status Parser::check_named(const Expression& made) const {
  const bool filter = made.name == "map";
  const size_t position = made.name == "selectattr" || made.name == "rejectattr" ? 2 : 1;
  if (!filter && !made.name.starts_with("select") && !made.name.starts_with("reject")) return {};
  if (made.operands.size() <= position) return {};
  const Expression& given = *made.operands[position];
  const Text* name = given.kind == Kind::kConstant ? as_text(given.constant) : nullptr;
  if (name == nullptr) return {};
  const std::string text(name->view());
  if (filter ? is_filter(text) : is_test(text)) return {};
  return source_.error(given.at,
                       std::string("unknown ") + (filter ? "filter" : "test") + " '" + text + "'" +
                           config::suggestion(text, filter ? filter_names() : test_names()));
}

Result<ExpressionPtr> Parser::test(ExpressionPtr operand) {
  ++at_;
  const size_t not_at = now().at;
  const bool negated = take_name("not");
  auto made = node(Kind::kTest, now().at);
  COLIBRI_ASSIGN(made->name, expect_name("the name of a test"));
  if (!is_test(made->name)) {
    return source_.error(made->at, "unknown test '" + made->name + "'" +
                                       config::suggestion(made->name, test_names()));
  }
  made->operands.push_back(std::move(operand));
  const bool argument =
      is(Token::Kind::kString) || is(Token::Kind::kInteger) || is(Token::Kind::kFloat) ||
      is_operator("[") || is_operator("{") ||
      (is(Token::Kind::kName) && !is_name("else") && !is_name("or") && !is_name("and"));
  if (is_operator("(")) {
    COLIBRI_TRY(arguments(*made));
  } else if (argument) {
    if (is_name("is")) return source_.error(now().at, "tests cannot be chained with 'is'");
    COLIBRI_ASSIGN(ExpressionPtr value, primary());
    COLIBRI_ASSIGN(value, postfix(std::move(value)));
    made->operands.push_back(std::move(value));
  }
  COLIBRI_ASSIGN(ExpressionPtr result, done(std::move(made)));
  if (!negated) return result;
  auto inverse = node(Kind::kUnary, not_at, "not");
  inverse->operands.push_back(std::move(result));
  return done(std::move(inverse));
}

}  // namespace colibri::chat
