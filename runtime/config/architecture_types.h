// SPDX-License-Identifier: Apache-2.0
// The types of values that only architecture documents use.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "runtime/config/architecture.h"
#include "runtime/config/field_types.h"

namespace colibri::config {

// nullopt and a problem if the value is no expression. Literals must be of the wanted type; what a
// reference gives is known only when it is evaluated.
// `choices`, unless there are none, are the words that a text may be.
std::optional<Expr> parse_expression(Type wanted, bool nullable, const Value& value,
                                     const std::string& key, Problems& problems,
                                     std::span<const Choice> choices = {});

// Expr of a type.
extern const FieldType kBooleanExprType;
extern const FieldType kBooleansOrNullExprType;
extern const FieldType kIntegerExprType;
extern const FieldType kIntegerOrNullExprType;
extern const FieldType kIntegersExprType;
extern const FieldType kNumberExprType;
extern const FieldType kNumberOrNullExprType;
extern const FieldType
    kWordType;  // Word: one of the field's choices, or an expression that gives one
extern const FieldType kAttentionScaleType;  // std::optional<Expr>: inverse_sqrt_head_dim = nullopt

// The vocabulary of an entry of `require`, `dims` or `tensors`; nullptr and a problem if `match`
// names no such.
Vocabulary* vocabulary_of(Architecture& architecture, const Value& entry, const std::string& key,
                          Problems& problems);
// A vocabulary of `match` must have a part in `dims` and `tensors` too.
void check_all_present(const Architecture& architecture, const Value& value, const std::string& key,
                       Problems& problems);
// The entries of a map that is expected here; none and a problem if it is something else.
std::span<const Value> entries(const Value& value, const std::string& key, Problems& problems);

// These fill Architecture::vocabularies, each its part of every vocabulary.
extern const FieldType kMatchType;
extern const FieldType kRequireType;
extern const FieldType kDimsType;
extern const FieldType kTensorsType;

}  // namespace colibri::config
