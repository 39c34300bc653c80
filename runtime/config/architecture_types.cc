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

constexpr FieldType kBooleanExprType = {expr_text<Type::kBoolean, false>, expr_json,
                                        read_expr<Type::kBoolean, false>};
constexpr FieldType kIntegerExprType = {expr_text<Type::kInteger, false>, expr_json,
                                        read_expr<Type::kInteger, false>};
constexpr FieldType kIntegerOrNullExprType = {expr_text<Type::kInteger, true>, expr_json,
                                              read_expr<Type::kInteger, true>};
constexpr FieldType kNumberExprType = {expr_text<Type::kNumber, false>, expr_json,
                                       read_expr<Type::kNumber, false>};
constexpr FieldType kAttentionScaleType = {attention_scale_text, attention_scale_json,
                                           read_attention_scale};

}  // namespace colibri::config
