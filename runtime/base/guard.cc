// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/guard.h"

#include <string>

namespace colibri {

Status escaped_exception(const char* who, const char* reason) noexcept {
  try {
    std::string text = std::string(who) + " let an exception escape";
    if (reason != nullptr) text += std::string(": ") + reason;
    return internal_error(std::move(text));
  } catch (...) {
    return {COLIBRI_INTERNAL, "exception"};  // short: allocates nothing
  }
}

}  // namespace colibri
