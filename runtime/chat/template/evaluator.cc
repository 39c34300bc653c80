// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/evaluator.h"

#include "runtime/chat/template/nesting.h"
#include "runtime/chat/template/python_text.h"

namespace colibri::chat {
namespace {

// Puts a value in place for as long as it lives.
template <typename T>
class Exchange {
 public:
  Exchange(T& place, T value) : place_(place), old_(std::exchange(place, std::move(value))) {}
  ~Exchange() { place_ = std::move(old_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  T& place_;
  T old_;
};

}  // namespace

const Value* Evaluator::Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    for (const auto& [key, value] : scope->values) {
      if (key == name) return &value;
    }
  }
  return nullptr;
}

void Evaluator::Scope::set(std::string_view name, Value value) {
  for (auto& [key, old] : values) {
    if (key != name) continue;
    old = std::move(value);
    return;
  }
  values.emplace_back(name, std::move(value));
}

Evaluator::Evaluator(const Source& source, Host& host) : source_(source), host_(host) {}

Result<Text> Evaluator::render(const Block& block, const Variables& variables) {
  for (const auto& [name, value] : variables) root_.set(name, value);
  TextBuilder output(host_.budget);
  output_ = &output;
  COLIBRI_TRY(run(block));
  return output.finish();
}

Status Evaluator::run(const Block& block) {
  for (const auto& statement : block) {
    COLIBRI_TRY(run_one(*statement));
    if (flow_ != Flow::kOn) break;
  }
  return {};
}

Status Evaluator::run_one(const Statement& statement) {
  const Nesting nesting(depth_);
  COLIBRI_TRY(placed(statement.at, host_.budget.spend(1)));
  switch (statement.kind) {
    case Statement::Kind::kText:
      return write(statement.at, statement.text);
    case Statement::Kind::kPrint: {
      COLIBRI_ASSIGN(const Value value, evaluate(*statement.value));
      COLIBRI_ASSIGN(const Text text, placed(statement.value->at, to_text(host_.budget, value)));
      return write(statement.at, text);
    }
    case Statement::Kind::kIf:
      return run_if(statement);
    case Statement::Kind::kFor:
      return run_for(statement);
    case Statement::Kind::kSet: {
      COLIBRI_ASSIGN(Value value, evaluate(*statement.value));
      return assign(statement.target, std::move(value));
    }
    case Statement::Kind::kSetBlock: {
      COLIBRI_ASSIGN(Value value, filtered_block(statement));
      return assign(statement.target, std::move(value));
    }
    case Statement::Kind::kFilter: {
      COLIBRI_ASSIGN(const Value value, filtered_block(statement));
      COLIBRI_ASSIGN(const Text text, placed(statement.at, to_text(host_.budget, value)));
      return write(statement.at, text);
    }
    case Statement::Kind::kMacro:
      scope_->set(statement.macro.name, &statement.macro);
      return {};
    case Statement::Kind::kScope:
      return run_scope(statement);
    case Statement::Kind::kBreak:
      flow_ = Flow::kBreak;
      return {};
    case Statement::Kind::kContinue:
      flow_ = Flow::kContinue;
      return {};
  }
  return {};
}

Status Evaluator::write(size_t at, const Text& text) {
  COLIBRI_TRY(placed(at, host_.budget.spend_on(text.size())));
  output_->add(text);
  COLIBRI_TRY(placed(at, output_->status()));
  if (output_->size() <= host_.budget.limits().output) return {};
  return source_.error(at, "the template writes more than " +
                               std::to_string(host_.budget.limits().output) + " bytes");
}

Status Evaluator::run_if(const Statement& statement) {
  for (const Statement::Branch& branch : statement.branches) {
    COLIBRI_ASSIGN(const Value condition, evaluate(*branch.condition));
    if (truth(condition)) return run(branch.body);
  }
  return run(statement.otherwise);
}

Result<std::vector<Value>> Evaluator::loop_items(const Statement& statement) {
  COLIBRI_ASSIGN(const Value value, evaluate(*statement.value));
  COLIBRI_ASSIGN(std::vector<Value> items,
                 placed(statement.value->at, iterate(host_.budget, value)));
  if (!statement.condition) return items;
  std::vector<Value> kept;
  for (Value& item : items) {
    Scope scope{scope_};
    const Exchange<Scope*> inside(scope_, &scope);
    COLIBRI_TRY(assign(statement.target, item));
    COLIBRI_ASSIGN(const Value wanted, evaluate(*statement.condition));
    if (truth(wanted)) kept.push_back(std::move(item));
  }
  return kept;
}

Status Evaluator::run_for(const Statement& statement) {
  COLIBRI_ASSIGN(std::vector<Value> items, loop_items(statement));
  if (!items.empty()) return run_items(statement, std::move(items));
  Scope scope{scope_};
  const Exchange<Scope*> inside(scope_, &scope);
  return run(statement.otherwise);
}

Status Evaluator::run_items(const Statement& statement, std::vector<Value> items) {
  COLIBRI_TRY(placed(statement.at, host_.budget.allocate(sizeof(LoopState))));
  LoopState& loop = host_.loops.emplace_back();
  loop.items = std::move(items);
  Scope scope{scope_};
  const Exchange<Scope*> inside(scope_, &scope);
  for (size_t i = 0; i < loop.items.size(); ++i) {
    loop.index = i;
    scope.values.clear();
    COLIBRI_TRY(placed(statement.at, host_.budget.spend(1)));
    COLIBRI_TRY(assign(statement.target, loop.items[i]));
    scope.set("loop", &std::as_const(loop));
    COLIBRI_TRY(run(statement.body));
    const Flow flow = std::exchange(flow_, Flow::kOn);
    if (flow == Flow::kBreak) break;
  }
  return {};
}

Status Evaluator::run_scope(const Statement& statement) {
  Scope scope{scope_};
  std::vector<Value> values;
  for (const auto& binding : statement.bindings) {
    COLIBRI_ASSIGN(Value value, evaluate(*binding.second));
    values.push_back(std::move(value));
  }
  const Exchange<Scope*> inside(scope_, &scope);
  for (size_t i = 0; i < values.size(); ++i) {
    COLIBRI_TRY(assign(statement.bindings[i].first, std::move(values[i])));
  }
  return run(statement.body);
}

Result<Text> Evaluator::written(const Block& block, Scope& scope) {
  TextBuilder output(host_.budget);
  const Exchange<Scope*> inside(scope_, &scope);
  const Exchange<TextBuilder*> into(output_, &output);
  COLIBRI_TRY(run(block));
  return output.finish();
}

Result<Value> Evaluator::filtered_block(const Statement& statement) {
  Scope scope{scope_};
  COLIBRI_ASSIGN(const Text text, written(statement.body, scope));
  if (!statement.filter) return Value(text);
  const Exchange<const Text*> filtered(filtered_, &text);
  return evaluate(*statement.filter);
}

Status Evaluator::assign(const Target& target, Value value) {
  if (!target.parts.empty()) {
    if (const auto* nothing = as<Undefined>(value)) return source_.error(target.at, *nothing->why);
    COLIBRI_ASSIGN(std::vector<Value> values, placed(target.at, iterate(host_.budget, value)));
    if (values.size() != target.parts.size()) {
      return source_.error(target.at, "there are " + std::to_string(values.size()) +
                                          " values for " + std::to_string(target.parts.size()) +
                                          " variables");
    }
    for (size_t i = 0; i < values.size(); ++i) {
      COLIBRI_TRY(assign(target.parts[i], std::move(values[i])));
    }
    return {};
  }
  if (target.attribute.empty()) {
    scope_->set(target.name, std::move(value));
    return {};
  }
  const Value* owner = scope_->find(target.name);
  const auto* found = owner == nullptr ? nullptr : as<Namespace*>(*owner);
  if (found == nullptr) {
    return source_.error(
        target.at, "'" + target.name + "' is no namespace: only attributes of those can be set");
  }
  if (Value* known = (*found)->find(target.attribute)) {
    *known = std::move(value);
    return {};
  }
  COLIBRI_TRY(placed(target.at, host_.budget.allocate(sizeof(Value) + target.attribute.size())));
  (*found)->attributes.emplace_back(target.attribute, std::move(value));
  return {};
}

}  // namespace colibri::chat
