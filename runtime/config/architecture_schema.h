// SPDX-License-Identifier: Apache-2.0
// The tables of the kind Architecture: its keys, the hyperparameters and the roles of tensors.
#pragma once

#include <span>
#include <string_view>

#include "runtime/config/architecture.h"
#include "runtime/config/schema.h"

namespace colibri::config {

extern const Table kArchitectureTable;

// A name that `dims` may give. Those that are not required must be referred to by a block option
// or a tensor.
struct DimensionField {
  std::string_view name;
  Type type = Type::kInteger;
  bool nullable = false;
  bool required = true;
  std::string_view doc;
};
extern const std::span<const DimensionField> kDimensionFields;

// A role that `tensors` must give a name for.
struct RoleField {
  std::string_view name;
  std::string_view key;  // within a vocabulary
  TensorTemplate::Scope scope;
  std::string_view doc;
};
extern const std::span<const RoleField> kRoleFields;

}  // namespace colibri::config
