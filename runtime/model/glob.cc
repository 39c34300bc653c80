// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/glob.h"

#include <cstddef>

namespace colibri::model {

bool glob_matches(std::string_view glob, std::string_view text) {
  size_t g = 0, t = 0;
  // Where to go on when the text does not fit: behind the last star, one more byte swallowed by it.
  size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace colibri::model
