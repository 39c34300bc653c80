// SPDX-License-Identifier: Apache-2.0
// The types of values that only architecture documents use.
#pragma once

#include <optional>
#include <string>

#include "runtime/config/architecture.h"
#include "runtime/config/field_types.h"

namespace colibri::config {

// nullopt and a problem if the value is no expression. Literals must be of the wanted type; what a
// reference gives is known only when it is evaluated.
std::optional<Expr> parse_expression(Type wanted, bool nullable, const Value& value,
                                     const std::string& key, Problems& problems);

extern const FieldType kBooleanExprType;
extern const FieldType kIntegerExprType;
extern const FieldType kIntegerOrNullExprType;
extern const FieldType kNumberExprType;
extern const FieldType kAttentionScaleType;  // std::optional<Expr>: inverse_sqrt_head_dim = nullopt

// These fill Architecture::vocabularies, each its part of every vocabulary.
extern const FieldType kMatchType;
extern const FieldType kRequireType;
extern const FieldType kDimsType;
extern const FieldType kTensorsType;

}  // namespace colibri::config
