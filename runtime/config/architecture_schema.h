// SPDX-License-Identifier: Apache-2.0
// The tables of the kind Architecture: its keys, the hyperparameters and the roles of tensors.
#pragma once

#include <span>
#include <string_view>

#include "runtime/config/architecture.h"
#include "runtime/config/schema.h"

namespace colibri::config {

extern const Table kArchitectureTable;

// A name that `dims` may give. Those that neither are required nor count something by themselves
// must be referred to by a block option or a tensor.
struct DimensionField {
  std::string_view name;
  Type type = Type::kInteger;
  bool nullable = false;
  bool required = false;  // of every model
  bool counts = false;    // means something without a reference to it
  std::string_view doc;
  std::span<const Choice> choices = {};  // of a word
};
extern const std::span<const DimensionField> kDimensionFields;

// A role that `tensors` may give a name for.
struct RoleField {
  // Where it must be given or may be given: always, with an attention.kind, with `expert` or with
  // `shared` tensors. Elsewhere it has no meaning.
  enum class Need {
    kAlways,
    kOptional,
    kGqa,
    kOptionalGqa,
    kMla,
    kOptionalMla,
    kExperts,
    kOptionalExperts,
    kOptionalShared,
  };
  std::string_view name;
  TensorTemplate::Scope scope;
  Need need;  // within its scope
  std::string_view doc;
};
extern const std::span<const RoleField> kRoleFields;

// The key of the roles of a scope within a vocabulary; empty for kModel.
const char* scope_key(TensorTemplate::Scope scope);

}  // namespace colibri::config
