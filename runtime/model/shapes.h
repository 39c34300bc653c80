// SPDX-License-Identifier: Apache-2.0
// What shape the weight of a role must have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/architecture.h"
#include "runtime/model/spec.h"

namespace colibri::model {

struct Extent {
  int64_t value = 0;
  std::string words;                   // "heads * head_dim"
  std::vector<std::string_view> dims;  // the names of `dims` in it
};

struct Shape {
  bool vector = false;  // rows is 1 then
  Extent rows, cols;

  std::string words() const;    // "[heads * head_dim, hidden]"
  std::string numbers() const;  // "[48, 32]"
};

// Follows from the numbers of the spec, which are sound. `scope` says which inner width the roles of
// an ffn have.
Shape shape_of(Role role, config::TensorTemplate::Scope scope, const ModelSpec& spec);

}  // namespace colibri::model
