// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/loop.h"

namespace colibri::chat {

std::optional<Value> LoopState::attribute(std::string_view name) const {
  const auto size = static_cast<int64_t>(items.size());
  const auto at = static_cast<int64_t>(index);
  if (name == "index") return Value(at + 1);
  if (name == "index0") return Value(at);
  if (name == "revindex") return Value(size - at);
  if (name == "revindex0") return Value(size - at - 1);
  if (name == "first") return Value(at == 0);
  if (name == "last") return Value(at + 1 == size);
  if (name == "length") return Value(size);
  // Only recursive loops are deeper.
  if (name == "depth") return Value(int64_t{1});
  if (name == "depth0") return Value(int64_t{0});
  if (name == "previtem") {
    return at > 0 ? items[index - 1] : undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return at + 1 < size ? items[index + 1] : undefined("there is no next item");
  }
  return std::nullopt;
}

}  // namespace colibri::chat
