// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/expression.h"

#include <algorithm>
#include <array>

#include "runtime/config/architecture_types.h"

namespace colibri::config {
namespace {

using Kind = Expr::Kind;

struct Operation {
  std::string_view name;
  Kind kind;
  const char* operands;  // what it takes, for messages
};
constexpr std::array<Operation, 9> kOperations = {{
    {"first", Kind::kFirst, "a list of one or more operands"},
    {"add", Kind::kAdd, "a list of two operands"},
    {"sub", Kind::kSub, "a list of two operands"},
    {"mul", Kind::kMul, "a list of two operands"},
    {"div", Kind::kDiv, "a list of two operands"},
    {"count", Kind::kCount, "$name"},
    {"given", Kind::kGiven, "$name"},
    {"tensor", Kind::kTensor, "the name of a tensor"},
    {"map", Kind::kMap, "[a value, { case: value, ... }]"},
}};

bool is_arithmetic(Kind kind) {
  return kind == Kind::kAdd || kind == Kind::kSub || kind == Kind::kMul || kind == Kind::kDiv;
}

// Whether an operation can give what is wanted.
bool gives(Kind kind, Type wanted) {
  if (is_arithmetic(kind)) return wanted == Type::kInteger || wanted == Type::kNumber;
  if (kind == Kind::kCount) {
    return wanted == Type::kInteger || wanted == Type::kNumber || wanted == Type::kText;
  }
  if (kind == Kind::kGiven || kind == Kind::kTensor) {
    return wanted == Type::kBoolean || wanted == Type::kText;
  }
  return true;
}

bool is_reference_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

// Parses one expression; nullopt = it was no good, and a problem says why.
class Parser {
 public:
  Parser(std::span<const Choice> choices, Problems& problems)
      : choices_(choices), problems_(problems) {}

  std::optional<Expr> parse(Type wanted, bool nullable, const Value& value,
                            const std::string& key) {
    if (value.is_map()) return operation(wanted, nullable, value, key);
    Expr expr;
    expr.position = value.position;
    expr.key = key;
    if (value.is_null() && nullable) return expr;
    if (value.is_scalar() && value.text.starts_with('$')) {
      expr.kind = Kind::kReference;
      expr.name = value.text.substr(1);
      if (is_reference_name(expr.name)) return expr;
      problems_.add(value.position, key, quote(value.text) + " is no reference; write $name");
      return {};
    }
    std::optional<Literal> literal = is_list(wanted) ? list(wanted, value) : scalar(wanted, value);
    if (!literal) {
      const auto bad =
          std::find_if(value.children.begin(), value.children.end(),
                       [&](const Value& child) { return !scalar(element_type(wanted), child); });
      const bool element = is_list(wanted) && value.is_list() && bad != value.children.end();
      problems_.add(element ? bad->position : value.position, key,
                    std::string("expected ") + type_name(wanted) + (nullable ? ", null" : "") +
                        ", $name or an expression, found " +
                        (element ? "one with " + describe(*bad) : describe(value)));
      return {};
    }
    if (!is_choice(*literal, value, key)) return {};
    expr.literal = std::move(*literal);
    return expr;
  }

 private:
  // The literal of the wanted type; nullopt = it is of another.
  static std::optional<Literal> scalar(Type wanted, const Value& value) {
    if (wanted == Type::kBoolean) {
      if (const auto boolean = to_boolean(value)) return *boolean;
    } else if (wanted == Type::kInteger) {
      if (const auto integer = to_integer(value)) return *integer;
    } else if (wanted == Type::kNumber) {
      if (const auto number = to_number(value)) return *number;
    } else if (wanted == Type::kText && value.is_scalar()) {
      return value.text;
    }
    return {};
  }

  static std::optional<Literal> list(Type wanted, const Value& value) {
    if (!value.is_list()) return {};
    std::vector<Scalar> items;
    for (const Value& child : value.children) {
      const std::optional<Literal> item = scalar(element_type(wanted), child);
      if (!item) return {};
      std::visit(
          [&](const auto& item_value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(item_value)>,
                                          std::vector<Scalar>>) {
              items.emplace_back(item_value);
            }
          },
          *item);
    }
    return Literal(std::move(items));
  }

  bool is_choice(const Literal& literal, const Value& value, const std::string& key) {
    const std::string* text = std::get_if<std::string>(&literal);
    if (text == nullptr || choices_.empty()) return true;
    std::vector<std::string_view> names;
    for (const Choice& choice : choices_) names.push_back(choice.name);
    if (std::find(names.begin(), names.end(), *text) != names.end()) return true;
    problems_.add(value.position, key, "unknown value " + quote(*text) + suggestion(*text, names));
    return false;
  }

  std::optional<Expr> operation(Type wanted, bool nullable, const Value& value,
                                const std::string& key) {
    const Value* given = value.children.size() == 1 ? &value.children.front() : nullptr;
    const auto* found =
        given == nullptr ? kOperations.end()
                         : std::find_if(kOperations.begin(), kOperations.end(),
                                        [&](const Operation& o) { return o.name == given->key; });
    if (found == kOperations.end()) {
      std::string names;
      for (const Operation& known : kOperations) {
        names += (names.empty() ? "" : ", ") + std::string(known.name);
      }
      problems_.add(
          value.position, key,
          "an expression is { OPERATION: operands }, with one of the operations " + names);
      return {};
    }
    const std::string path = join(key, found->name);
    if (!gives(found->kind, wanted)) {
      problems_.add(given->position, path, std::string("does not give ") + type_name(wanted));
      return {};
    }
    Expr expr;
    expr.kind = found->kind;
    expr.position = value.position;
    expr.key = key;
    if (!has_operands(expr.kind, *given)) {
      problems_.add(given->position, path, std::string("expected ") + found->operands);
      return {};
    }
    const bool good = operands(wanted, nullable, *given, path, expr);
    return good ? std::optional(std::move(expr)) : std::nullopt;
  }

  static bool has_operands(Kind kind, const Value& given) {
    if (kind == Kind::kFirst) return given.is_list() && !given.children.empty();
    if (is_arithmetic(kind)) return given.is_list() && given.children.size() == 2;
    if (kind == Kind::kMap) {
      return given.is_list() && given.children.size() == 2 && given.children[1].is_map() &&
             !given.children[1].children.empty();
    }
    if (kind == Kind::kTensor) return given.is_scalar() && !given.text.empty();
    return given.is_scalar() && given.text.starts_with('$');
  }

  bool operands(Type wanted, bool nullable, const Value& given, const std::string& path,
                Expr& expr) {
    // Null may stand for "none" as what `first` or `map` gives, never in arithmetic.
    const bool null = nullable && (expr.kind == Kind::kFirst || expr.kind == Kind::kMap);
    switch (expr.kind) {
      case Kind::kTensor:
        expr.name = given.text;
        return true;
      case Kind::kCount:
      case Kind::kGiven:
        return operand(Parser({}, problems_), wanted, false, given, path, expr);
      case Kind::kMap: {
        const Value& cases = given.children[1];
        // What is compared is any text; what comes out is one of the choices.
        bool good = operand(Parser({}, problems_), wanted, nullable && is_list(wanted),
                            given.children[0], join(path, "0"), expr);
        for (const Value& one : cases.children) {
          expr.cases.push_back(one.key);
          good = operand(*this, wanted, null && !is_list(wanted), one,
                         join(join(path, "1"), one.key), expr) &&
                 good;
        }
        return good;
      }
      default: {
        bool good = true;
        for (size_t i = 0; i < given.children.size(); ++i) {
          good = operand(*this, wanted, null, given.children[i], join(path, std::to_string(i)),
                         expr) &&
                 good;
        }
        return good;
      }
    }
  }

  static bool operand(Parser parser, Type wanted, bool nullable, const Value& value,
                      const std::string& key, Expr& expr) {
    std::optional<Expr> parsed =
        parser.parse(operand_type(expr, expr.operands.size(), wanted), nullable, value, key);
    expr.operands.push_back(parsed ? std::move(*parsed) : Expr());
    return parsed.has_value();
  }

  std::span<const Choice> choices_;
  Problems& problems_;
};

}  // namespace

const char* type_name(Type type) {
  switch (type) {
    case Type::kBoolean:
      return "true or false";
    case Type::kInteger:
      return "an integer";
    case Type::kNumber:
      return "a number";
    case Type::kText:
      return "a word";
    case Type::kBooleans:
      return "a list of true and false";
    case Type::kIntegers:
      return "a list of integers";
    case Type::kTexts:
      return "a list of words";
  }
  return "";
}

bool is_list(Type type) {
  return element_type(type) != type;
}

Type element_type(Type type) {
  if (type == Type::kBooleans) return Type::kBoolean;
  if (type == Type::kIntegers) return Type::kInteger;
  return type == Type::kTexts ? Type::kText : type;
}

Type operand_type(const Expr& expr, size_t i, Type wanted) {
  if (expr.kind == Expr::Kind::kMul && wanted == Type::kInteger) return Type::kNumber;
  if (expr.kind != Expr::Kind::kMap) return wanted;
  if (i == 0) return is_list(wanted) ? Type::kTexts : Type::kText;
  return element_type(wanted);
}

std::optional<Expr> parse_expression(Type wanted, bool nullable, const Value& value,
                                     const std::string& key, Problems& problems,
                                     std::span<const Choice> choices) {
  return Parser(choices, problems).parse(wanted, nullable, value, key);
}

}  // namespace colibri::config
