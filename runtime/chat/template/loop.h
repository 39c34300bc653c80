// SPDX-License-Identifier: Apache-2.0
// The variable `loop` of a for statement.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/chat/template/value.h"

namespace colibri::chat {

struct LoopState {
  std::vector<Value> items;
  size_t index = 0;  // of the item that the body sees
  // What changed() was last given.
  mutable std::optional<std::vector<Value>> last;

  std::optional<Value> attribute(std::string_view name) const;
};

}  // namespace colibri::chat
