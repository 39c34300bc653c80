// SPDX-License-Identifier: Apache-2.0
// From tokens to the tree. Filters, tests, methods, functions and statements that are not known are
// refused here by name, before anything is rendered.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/chat/template/lexer.h"
#include "runtime/chat/template/syntax.h"

namespace colibri::chat {

constexpr int kMostNesting = 100;    // of brackets, operators that nest and statements
constexpr int kMostTreeDepth = 200;  // of an expression: chains of operators deepen it, too

class Parser {
 public:
  // Both must outlive the parser.
  Parser(const Source& source, const std::vector<Token>& tokens)
      : source_(source), tokens_(tokens) {}

  // The whole template.
  Result<Block> run();

 private:
  // parser.cc: statements.
  Result<Block> block(std::initializer_list<std::string_view> ends);  // stops at the name of an end
  Result<Block> body(std::initializer_list<std::string_view> ends);   // from the end of a tag on
  Result<Block> last_body(std::string_view end, bool may_break);  // and steps over the end's name
  Result<std::unique_ptr<Statement>> statement();
  Status parse_if(Statement& made);
  Status parse_for(Statement& made);
  Status parse_set(Statement& made);
  Status parse_filter_block(Statement& made);
  Status parse_macro(Statement& made);
  Status parse_with(Statement& made);
  Status parse_jump(Statement& made, std::string_view word);
  Result<Target> target(bool attributes, std::string_view end);
  Result<Target> single_target(bool attributes);
  Status check_calls() const;

  // parse_expression.cc.
  Result<ExpressionPtr> expression(bool conditions = true);
  Result<ExpressionPtr> tuple(bool conditions = true, std::string_view end = {},
                              bool parentheses = false);
  Result<ExpressionPtr> condition();
  Result<ExpressionPtr> logical(std::string_view word);
  Result<ExpressionPtr> negation();
  Result<ExpressionPtr> comparison();
  Result<ExpressionPtr> sum();
  Result<ExpressionPtr> concatenation();
  Result<ExpressionPtr> product();
  Result<ExpressionPtr> power();
  Result<ExpressionPtr> unary(bool filters = true);
  Result<ExpressionPtr> filters_and_tests(ExpressionPtr operand);
  Result<ExpressionPtr> filter(ExpressionPtr operand);
  Result<ExpressionPtr> test(ExpressionPtr operand);
  Status check_named(const Expression& made) const;
  // Ends the making of a node: bounds the depth of the tree.
  Result<ExpressionPtr> done(std::unique_ptr<Expression> made) const;
  static std::unique_ptr<Expression> node(Expression::Kind kind, size_t at, std::string name = {});

  // parse_operand.cc.
  Result<ExpressionPtr> primary();
  Result<ExpressionPtr> list();
  Result<ExpressionPtr> dict();
  Result<ExpressionPtr> postfix(ExpressionPtr operand);
  Result<ExpressionPtr> subscript(ExpressionPtr operand);
  Result<ExpressionPtr> call(ExpressionPtr operand);
  Status arguments(Expression& made);

  // The tokens.
  const Token& now() const { return tokens_[at_]; }
  const Token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool is(Token::Kind kind) const { return now().kind == kind; }
  static bool matches(const Token& token, Token::Kind kind, std::string_view text) {
    return token.kind == kind && token.text == text;
  }
  bool is_name(std::string_view name) const { return matches(now(), Token::Kind::kName, name); }
  bool is_operator(std::string_view op) const { return matches(now(), Token::Kind::kOperator, op); }
  bool take_name(std::string_view name) { return is_name(name) && (++at_, true); }
  bool take_operator(std::string_view op) { return is_operator(op) && (++at_, true); }
  Status expect_operator(std::string_view op);
  Status expect(Token::Kind kind, const char* what);
  Result<std::string> expect_name(const char* what);
  Status expected(const std::string& what) const {
    return source_.error(now().at, "expected " + what + ", found " + describe(now()));
  }

  const Source& source_;
  const std::vector<Token>& tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  int loops_ = 0;   // around this place, that break and continue reach
  int scopes_ = 0;  // around this place: statements that keep their variables to themselves
  bool in_macro_ = false;
  std::set<std::string, std::less<>> assigned_;         // names the template gives values to
  std::vector<std::pair<std::string, size_t>> called_;  // names called as functions, and where
};

}  // namespace colibri::chat
