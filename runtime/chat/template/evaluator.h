// SPDX-License-Identifier: Apache-2.0
// Walks the tree of a template and writes what it says.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/loop.h"
#include "runtime/chat/template/source.h"
#include "runtime/chat/template/syntax.h"

namespace colibri::chat {

using Variables = std::vector<std::pair<std::string, Value>>;

// Used for one rendering.
class Evaluator {
 public:
  Evaluator(const Source& source, Host& host);
  Result<Text> render(const Block& block, const Variables& variables);

 private:
  // The names of a part of the template; those around it are seen through it. Names live in the
  // tree or in the variables.
  struct Scope {
    const Scope* parent;
    std::vector<std::pair<std::string_view, Value>> values{};

    const Value* find(std::string_view name) const;
    void set(std::string_view name, Value value);
  };
  enum class Flow { kOn, kBreak, kContinue };

  // evaluator.cc: statements.
  Status run(const Block& block);
  Status run_one(const Statement& statement);
  Status run_if(const Statement& statement);
  Status run_for(const Statement& statement);
  Status run_items(const Statement& statement, std::vector<Value> items);
  Status run_scope(const Statement& statement);
  Result<std::vector<Value>> loop_items(const Statement& statement);
  Status assign(const Target& target, Value value);
  Status write(size_t at, const Text& text);
  // What a block writes, its names kept to itself.
  Result<Text> written(const Block& block, Scope& scope);
  Result<Value> filtered_block(const Statement& statement);

  // evaluate_expression.cc. They fail with a place.
  Result<Value> evaluate(const Expression& expression);
  Result<Value> evaluate_by_kind(const Expression& expression);
  Result<Value> name(const Expression& expression);
  Result<Value> list(const Expression& expression, List::Kind kind);
  Result<Value> dict(const Expression& expression);
  Result<Value> item(const Expression& expression);
  Result<Value> slice(const Expression& expression);
  Result<Value> unary(const Expression& expression);
  Result<Value> binary(const Expression& expression);
  Result<Value> compare(const Expression& expression);
  Result<bool> compare_pair(const std::string& op, const Value& a, const Value& b);
  Result<Value> concat(const Expression& expression);
  Result<Value> condition(const Expression& expression);
  Result<Value> filter(const Expression& expression);
  Result<Value> test(const Expression& expression);
  Result<Value> call(const Expression& expression);
  Result<Value> call_value(const Expression& expression, const Value& callee,
                           const Arguments& arguments);
  Result<Value> call_macro(const Macro& macro, const Arguments& arguments);
  Status bind(const Macro& macro, const Arguments& arguments, Scope& scope);
  Result<Arguments> arguments(const Expression& expression);

  template <typename T>
  Result<T> placed(size_t at, Result<T> result) const {
    return result.ok() ? std::move(result) : Result<T>(source_.error(at, result.status().text()));
  }
  Status placed(size_t at, const Status& status) const {
    return status.ok() ? status : source_.error(at, status.text());
  }

  const Source& source_;
  Host& host_;
  Scope root_{nullptr};
  Scope* scope_ = &root_;
  TextBuilder* output_ = nullptr;
  Flow flow_ = Flow::kOn;
  const Text* filtered_ = nullptr;  // the text of the block whose filter is being applied
  int depth_ = 0;
};

}  // namespace colibri::chat
