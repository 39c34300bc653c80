// SPDX-License-Identifier: Apache-2.0
// Operands of expressions: literals, names, brackets, and what follows them: attributes, items,
// slices, calls.
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/parser.h"
#include "runtime/chat/template/python_text.h"
#include "runtime/config/problem.h"

namespace colibri::chat {

using Kind = Expression::Kind;

Result<ExpressionPtr> Parser::primary() {
  const Token& token = now();
  auto constant = node(Kind::kConstant, token.at);
  switch (token.kind) {
    case Token::Kind::kName:
      ++at_;
      if (token.text == "true" || token.text == "True") {
        constant->constant = true;
      } else if (token.text == "false" || token.text == "False") {
        constant->constant = false;
      } else if (token.text == "none" || token.text == "None") {
        constant->constant = None();
      } else {
        if (in_macro_ &&
            (token.text == "caller" || token.text == "varargs" || token.text == "kwargs")) {
          return source_.error(token.at, "'" + token.text + "' of macros is not supported");
        }
        constant->kind = Kind::kName;
        constant->name = token.text;
      }
      return done(std::move(constant));
    case Token::Kind::kString: {
      std::string text;  // neighbouring texts are one
      while (is(Token::Kind::kString)) text += tokens_[at_++].text;
      constant->constant = trusted_text(std::move(text));
      return done(std::move(constant));
    }
    case Token::Kind::kInteger: {
      ++at_;
      const auto value = parse_integer(token.text, 0);
      if (!value.ok()) return source_.error(token.at, value.status().text());
      if (!*value) return source_.error(token.at, describe(token) + " is no number");
      constant->constant = **value;
      return done(std::move(constant));
    }
    case Token::Kind::kFloat:
      ++at_;
      constant->constant = parse_float(token.text).value_or(0);
      return done(std::move(constant));
    default:
      break;
  }
  if (is_operator("[")) return list();
  if (is_operator("{")) return dict();
  if (!take_operator("(")) return expected("an expression");
  COLIBRI_ASSIGN(ExpressionPtr inner, tuple(true, {}, true));
  COLIBRI_TRY(expect_operator(")"));
  return inner;
}

Result<ExpressionPtr> Parser::list() {
  auto made = node(Kind::kList, now().at);
  ++at_;
  while (!take_operator("]")) {
    if (!made->operands.empty()) COLIBRI_TRY(expect_operator(","));
    if (take_operator("]")) break;
    COLIBRI_ASSIGN(ExpressionPtr item, expression());
    made->operands.push_back(std::move(item));
  }
  return done(std::move(made));
}

Result<ExpressionPtr> Parser::dict() {
  auto made = node(Kind::kDict, now().at);
  ++at_;
  while (!take_operator("}")) {
    if (!made->operands.empty()) COLIBRI_TRY(expect_operator(","));
    if (take_operator("}")) break;
    COLIBRI_ASSIGN(ExpressionPtr key, expression());
    COLIBRI_TRY(expect_operator(":"));
    COLIBRI_ASSIGN(ExpressionPtr value, expression());
    made->operands.push_back(std::move(key));
    made->operands.push_back(std::move(value));
  }
  return done(std::move(made));
}

Result<ExpressionPtr> Parser::postfix(ExpressionPtr operand) {
  for (;;) {
    if (is_operator(".")) {
      auto made = node(Kind::kAttribute, now().at);
      ++at_;
      if (is(Token::Kind::kInteger)) {  // list.0
        --at_;
        COLIBRI_ASSIGN(operand, subscript(std::move(operand)));
        continue;
      }
      COLIBRI_ASSIGN(made->name, expect_name("the name of an attribute"));
      made->operands.push_back(std::move(operand));
      COLIBRI_ASSIGN(operand, done(std::move(made)));
    } else if (is_operator("[")) {
      COLIBRI_ASSIGN(operand, subscript(std::move(operand)));
    } else if (is_operator("(")) {
      COLIBRI_ASSIGN(operand, call(std::move(operand)));
    } else {
      return operand;
    }
  }
}

Result<ExpressionPtr> Parser::subscript(ExpressionPtr operand) {
  auto made = node(Kind::kItem, now().at);
  made->operands.push_back(std::move(operand));
  if (take_operator(".")) {
    COLIBRI_ASSIGN(ExpressionPtr index, primary());
    made->operands.push_back(std::move(index));
    return done(std::move(made));
  }
  ++at_;
  for (int part = 0;; ++part) {
    ExpressionPtr value;
    const bool given = !is_operator(":") && !is_operator("]");
    if (given) {
      COLIBRI_ASSIGN(value, expression());
    }
    if (!given && part == 0 && is_operator("]")) return expected("an index");
    made->operands.push_back(std::move(value));
    if (part == 2 || !take_operator(":")) break;
    made->kind = Kind::kSlice;
  }
  if (is_operator(","))
    return source_.error(now().at, "an index of several parts is not supported");
  COLIBRI_TRY(expect_operator("]"));
  if (made->kind == Kind::kSlice) made->operands.resize(4);
  return done(std::move(made));
}

Result<ExpressionPtr> Parser::call(ExpressionPtr operand) {
  auto made = node(Kind::kCall, now().at);
  if (operand->kind == Kind::kName) {
    called_.emplace_back(operand->name, operand->at);
  } else if (operand->kind == Kind::kAttribute && !is_method(operand->name)) {
    return source_.error(operand->at, "unknown method '" + operand->name + "'" +
                                          config::suggestion(operand->name, method_names()));
  }
  made->operands.push_back(std::move(operand));
  COLIBRI_TRY(arguments(*made));
  return done(std::move(made));
}

Status Parser::arguments(Expression& made) {
  COLIBRI_TRY(expect_operator("("));
  bool first = true;
  while (!take_operator(")")) {
    if (!first) COLIBRI_TRY(expect_operator(","));
    first = false;
    if (take_operator(")")) break;
    if (is_operator("*") || is_operator("**")) {
      return source_.error(now().at,
                           "arguments that are unpacked by '" + now().text + "' are not supported");
    }
    if (is(Token::Kind::kName) && matches(after(), Token::Kind::kOperator, "=")) {
      std::string name = now().text;
      at_ += 2;
      COLIBRI_ASSIGN(ExpressionPtr value, expression());
      made.keywords.emplace_back(std::move(name), std::move(value));
      continue;
    }
    if (!made.keywords.empty()) {
      return source_.error(now().at, "an argument without a name stands behind one with a name");
    }
    COLIBRI_ASSIGN(ExpressionPtr value, expression());
    made.operands.push_back(std::move(value));
  }
  return {};
}

}  // namespace colibri::chat
