// SPDX-License-Identifier: Apache-2.0
// Where a weight stands in a model, and the names that .colibri files give their tensors.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/config/architecture.h"
#include "runtime/model/weight.h"

namespace colibri::model {

// Where the weight of a role is looked for.
struct RoleKey {
  Role role;
  config::TensorTemplate::Scope scope = config::TensorTemplate::Scope::kModel;
  int64_t layer = 0, expert = 0;
};

// "embedding", "layers.3.q", "layers.3.ffn.gate", "layers.3.shared.gate", "layers.3.experts.7.gate".
std::string role_path(const RoleKey& key);

}  // namespace colibri::model
