// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/parser.h"

#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/nesting.h"
#include "runtime/config/problem.h"

namespace colibri::chat {
namespace {

using Kind = Statement::Kind;

const std::vector<std::string_view> kStatements = {
    "if", "for", "set", "macro", "filter", "generation", "with", "break", "continue", "raw"};
// The ends and middles of statements: not unknown, but in the wrong place.
const std::set<std::string_view> kParts = {"elif",   "else",     "endif",         "endfor",
                                           "endset", "endmacro", "endgeneration", "endwith",
                                           "endraw", "endfilter"};

}  // namespace

Status Parser::expect_operator(std::string_view op) {
  return take_operator(op) ? Status() : expected("'" + std::string(op) + "'");
}

Status Parser::expect(Token::Kind kind, const char* what) {
  if (!is(kind)) return expected(what);
  ++at_;
  return {};
}

Result<std::string> Parser::expect_name(const char* what) {
  if (!is(Token::Kind::kName)) return expected(what);
  return tokens_[at_++].text;
}

Result<Block> Parser::run() {
  COLIBRI_ASSIGN(Block made, block({}));
  COLIBRI_TRY(check_calls());
  return made;
}

// Functions are found by name when they run, so that a macro may stand behind its call.
Status Parser::check_calls() const {
  for (const auto& [name, at] : called_) {
    if (is_function(name) || assigned_.contains(name)) continue;
    return source_.error(
        at, "unknown function '" + name + "'" + config::suggestion(name, function_names()));
  }
  return {};
}

Result<Block> Parser::block(std::initializer_list<std::string_view> ends) {
  const Nesting nesting(nesting_);
  if (nesting.beyond(kMostNesting)) {
    return source_.error(
        now().at, "statements are nested more than " + std::to_string(kMostNesting) + " deep");
  }
  Block made;
  while (!is(Token::Kind::kEnd)) {
    const size_t at = now().at;
    if (is(Token::Kind::kData)) {
      auto text = std::make_unique<Statement>(Kind::kText, at);
      text->text = Text(tokens_[at_++].text, true);
      made.push_back(std::move(text));
    } else if (is(Token::Kind::kPrintBegin)) {
      ++at_;
      auto print = std::make_unique<Statement>(Kind::kPrint, at);
      COLIBRI_ASSIGN(print->value, tuple());
      COLIBRI_TRY(expect(Token::Kind::kPrintEnd, "'}}'"));
      made.push_back(std::move(print));
    } else {
      COLIBRI_TRY(expect(Token::Kind::kBlockBegin, "'{%'"));
      if (is(Token::Kind::kName) && std::find(ends.begin(), ends.end(), now().text) != ends.end()) {
        return made;
      }
      COLIBRI_ASSIGN(auto next, statement());
      COLIBRI_TRY(expect(Token::Kind::kBlockEnd, "'%}'"));
      made.push_back(std::move(next));
    }
  }
  if (ends.size() > 0) return expected("'" + std::string(*ends.begin()) + "'");
  return made;
}

Result<Block> Parser::body(std::initializer_list<std::string_view> ends) {
  take_operator(":");
  COLIBRI_TRY(expect(Token::Kind::kBlockEnd, "'%}'"));
  return block(ends);
}

Result<Block> Parser::last_body(std::string_view end, bool may_break) {
  const int loops = loops_;
  if (!may_break) loops_ = 0;
  ++scopes_;
  Result<Block> made = body({end});
  --scopes_;
  loops_ = loops;
  if (made.ok()) ++at_;
  return made;
}

Result<std::unique_ptr<Statement>> Parser::statement() {
  const size_t at = now().at;
  COLIBRI_ASSIGN(const std::string word, expect_name("the name of a statement"));
  auto made = std::make_unique<Statement>(Kind::kScope, at);
  Status status;
  if (word == "if") {
    status = parse_if(*made);
  } else if (word == "for") {
    status = parse_for(*made);
  } else if (word == "set") {
    status = parse_set(*made);
  } else if (word == "macro") {
    status = parse_macro(*made);
  } else if (word == "filter") {
    status = parse_filter_block(*made);
  } else if (word == "with") {
    status = parse_with(*made);
  } else if (word == "generation") {
    // Marks what the assistant wrote, for training; it prints its body.
    COLIBRI_ASSIGN(made->body, last_body("endgeneration", false));
  } else if (word == "break" || word == "continue") {
    status = parse_jump(*made, word);
  } else if (kParts.contains(word)) {
    return source_.error(at, "'" + word + "' ends nothing here");
  } else {
    return source_.error(
        at, "unknown statement '" + word + "'" + config::suggestion(word, kStatements));
  }
  COLIBRI_TRY(status);
  return made;
}

Status Parser::parse_if(Statement& made) {
  made.kind = Kind::kIf;
  for (;;) {
    Statement::Branch branch;
    COLIBRI_ASSIGN(branch.condition, tuple(false));
    COLIBRI_ASSIGN(branch.body, body({"endif", "elif", "else"}));
    made.branches.push_back(std::move(branch));
    if (take_name("elif")) continue;
    if (take_name("else")) {
      COLIBRI_ASSIGN(made.otherwise, body({"endif"}));
    }
    ++at_;
    return {};
  }
}

Status Parser::parse_for(Statement& made) {
  made.kind = Kind::kFor;
  COLIBRI_ASSIGN(made.target, target(false, "in"));
  if (!take_name("in")) return expected("'in'");
  COLIBRI_ASSIGN(made.value, tuple(false, "recursive"));
  if (take_name("if")) {
    COLIBRI_ASSIGN(made.condition, expression());
  }
  if (is_name("recursive")) {
    return source_.error(now().at, "loops that are 'recursive' are not supported");
  }
  ++loops_;
  ++scopes_;
  Result<Block> body_made = body({"endfor", "else"});
  --scopes_;
  --loops_;
  COLIBRI_ASSIGN(made.body, std::move(body_made));
  if (take_name("else")) {
    COLIBRI_ASSIGN(made.otherwise, last_body("endfor", true));
  } else {
    ++at_;
  }
  return {};
}

Status Parser::parse_set(Statement& made) {
  COLIBRI_ASSIGN(made.target, target(true, {}));
  if (take_operator("=")) {
    made.kind = Kind::kSet;
    COLIBRI_ASSIGN(made.value, tuple());
    return {};
  }
  made.kind = Kind::kSetBlock;
  while (is_operator("|")) {
    COLIBRI_ASSIGN(made.filter, filter(std::move(made.filter)));
  }
  COLIBRI_ASSIGN(made.body, last_body("endset", false));
  return {};
}

Status Parser::parse_filter_block(Statement& made) {
  made.kind = Kind::kFilter;
  --at_;  // filter() steps over the '|' that is not written here
  do {
    COLIBRI_ASSIGN(made.filter, filter(std::move(made.filter)));
  } while (is_operator("|"));
  COLIBRI_ASSIGN(made.body, last_body("endfilter", false));
  return {};
}

Status Parser::parse_with(Statement& made) {
  while (!is(Token::Kind::kBlockEnd)) {
    if (!made.bindings.empty()) COLIBRI_TRY(expect_operator(","));
    COLIBRI_ASSIGN(Target to, single_target(false));
    COLIBRI_TRY(expect_operator("="));
    COLIBRI_ASSIGN(ExpressionPtr value, expression());
    made.bindings.emplace_back(std::move(to), std::move(value));
  }
  COLIBRI_ASSIGN(made.body, last_body("endwith", true));
  return {};
}

Status Parser::parse_macro(Statement& made) {
  made.kind = Kind::kMacro;
  made.macro.at = now().at;
  if (scopes_ > 0) {
    return source_.error(made.at,
                         "a macro within a loop, a macro or the like is not supported; "
                         "define it outside");
  }
  COLIBRI_ASSIGN(made.macro.name, expect_name("the name of the macro"));
  assigned_.insert(made.macro.name);
  COLIBRI_TRY(expect_operator("("));
  while (!is_operator(")")) {
    if (!made.macro.parameters.empty()) COLIBRI_TRY(expect_operator(","));
    const size_t at = now().at;
    Parameter parameter;
    COLIBRI_ASSIGN(parameter.name, expect_name("the name of a parameter"));
    assigned_.insert(parameter.name);
    if (take_operator("=")) {
      COLIBRI_ASSIGN(parameter.fallback, expression());
    } else if (!made.macro.parameters.empty() && made.macro.parameters.back().fallback) {
      return source_.error(at, "a parameter without a default stands behind one that has one");
    }
    made.macro.parameters.push_back(std::move(parameter));
  }
  ++at_;
  in_macro_ = true;
  Result<Block> body_made = last_body("endmacro", false);
  in_macro_ = false;
  COLIBRI_ASSIGN(made.macro.body, std::move(body_made));
  return {};
}

Status Parser::parse_jump(Statement& made, std::string_view word) {
  made.kind = word == "break" ? Kind::kBreak : Kind::kContinue;
  if (loops_ > 0) return {};
  return source_.error(made.at, "'" + std::string(word) + "' stands in no loop");
}

Result<Target> Parser::target(bool attributes, std::string_view end) {
  Target made;
  made.at = now().at;
  for (;;) {
    COLIBRI_ASSIGN(Target part, single_target(attributes));
    made.parts.push_back(std::move(part));
    if (!take_operator(",")) break;
    if (is_operator("=") || is(Token::Kind::kBlockEnd) || (!end.empty() && is_name(end))) {
      return made;  // `a, = x`: a tuple of one
    }
  }
  if (made.parts.size() > 1) return made;
  Target only = std::move(made.parts[0]);
  return only;
}

Result<Target> Parser::single_target(bool attributes) {
  Target made;
  made.at = now().at;
  if (take_operator("(")) {
    const Nesting nesting(nesting_);
    if (nesting.beyond(kMostNesting)) return source_.error(made.at, "too many brackets");
    COLIBRI_ASSIGN(made, target(attributes, {}));
    COLIBRI_TRY(expect_operator(")"));
    return made;
  }
  COLIBRI_ASSIGN(made.name, expect_name("the name of a variable"));
  static const std::set<std::string_view> kConstants = {"true", "True", "false", "False",
                                                        "none", "None", "loop"};
  if (kConstants.contains(made.name)) {
    return source_.error(made.at, "'" + made.name + "' cannot be given a value");
  }
  if (attributes && take_operator(".")) {
    COLIBRI_ASSIGN(made.attribute, expect_name("the name of an attribute"));
  } else {
    assigned_.insert(made.name);
  }
  return made;
}

}  // namespace colibri::chat
