// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/architecture_types.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace colibri::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kInverseSqrtHeadDim = "inverse_sqrt_head_dim";

// ---- expressions ----

template <Type type, bool nullable>
std::string expr_text(const Field&) {
  return std::string(type_name(type)) + (nullable ? ", null" : "") + ", $name or an expression";
}

Json expr_json(const Field&) {
  return {{"$ref", "#/definitions/expression"}};
}

template <Type type, bool nullable>
void read_expr(const Field&, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  if (auto expr = parse_expression(type, nullable, value, key, problems)) {
    *static_cast<Expr*>(member) = std::move(*expr);
  }
}

// ---- words ----

std::string word_text(const Field& field) {
  return choice_text(field) + ", $name or an expression";
}

Json word_json(const Field& field) {
  return {{"anyOf", Json::array({choice_json(field), expr_json(field)})}};
}

void read_word(const Field& field, const Value& value, const std::string& key, void* member,
               Problems& problems) {
  auto& word = *static_cast<Word*>(member);
  word.choices = field.choices;
  auto expr = parse_expression(Type::kText, false, value, key, problems, field.choices);
  if (expr) word.expr = std::move(*expr);
}

// ---- the scale of attention ----

std::string attention_scale_text(const Field& field) {
  return std::string(kInverseSqrtHeadDim) + ", " + expr_text<Type::kNumber, false>(field);
}

Json attention_scale_json(const Field& field) {
  return {{"anyOf", Json::array({{{"const", kInverseSqrtHeadDim}}, expr_json(field)})}};
}

void read_attention_scale(const Field& field, const Value& value, const std::string& key,
                          void* member, Problems& problems) {
  auto& scale = *static_cast<std::optional<Expr>*>(member);
  if (value.is_scalar() && value.text == kInverseSqrtHeadDim) {
    scale.reset();
  } else if (value.is_scalar() && !value.text.starts_with('$') && !to_number(value)) {
    problems.add(value.position, key, mismatch(field, value));
  } else {
    scale = parse_expression(Type::kNumber, false, value, key, problems);
  }
}

}  // namespace

template <Type type, bool nullable>
constexpr FieldType kExprType = {expr_text<type, nullable>, expr_json, read_expr<type, nullable>};

constexpr FieldType kBooleanExprType = kExprType<Type::kBoolean, false>;
constexpr FieldType kBooleansOrNullExprType = kExprType<Type::kBooleans, true>;
constexpr FieldType kIntegerExprType = kExprType<Type::kInteger, false>;
constexpr FieldType kIntegerOrNullExprType = kExprType<Type::kInteger, true>;
constexpr FieldType kIntegersExprType = kExprType<Type::kIntegers, false>;
constexpr FieldType kNumberExprType = kExprType<Type::kNumber, false>;
constexpr FieldType kNumberOrNullExprType = kExprType<Type::kNumber, true>;
constexpr FieldType kWordType = {word_text, word_json, read_word};
constexpr FieldType kAttentionScaleType = {attention_scale_text, attention_scale_json,
                                           read_attention_scale};

}  // namespace colibri::config
