// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/role_path.h"

namespace colibri::model {

std::string role_path(const RoleKey& key) {
  using Scope = config::TensorTemplate::Scope;
  const std::string layer = "layers." + std::to_string(key.layer) + ".";
  switch (key.scope) {
    case Scope::kModel:
      return role_name(key.role);
    case Scope::kLayer:
      return layer + role_name(key.role);
    case Scope::kDense:
      return layer + "ffn." + role_name(key.role);
    case Scope::kShared:
      return layer + "shared." + role_name(key.role);
    case Scope::kExpert:
      return layer + "experts." + std::to_string(key.expert) + "." + role_name(key.role);
  }
  return {};
}

}  // namespace colibri::model
