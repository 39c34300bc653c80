// SPDX-License-Identifier: Apache-2.0
// Every occurrence of a string, from left to right, by another.
#pragma once

#include <string>
#include <string_view>

namespace colibri::tokenizers {

// `what` is not empty. Thread-safe.
inline std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  result.reserve(text.size());
  for (;;) {
    const size_t found = text.find(what);
    result += text.substr(0, found);
    if (found == std::string_view::npos) return result;
    result += by;
    text.remove_prefix(found + what.size());
  }
}

}  // namespace colibri::tokenizers
