// SPDX-License-Identifier: Apache-2.0
// Calls into plugins that might break their promise not to throw.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "runtime/base/status.h"

namespace colibri::plugin {

// Runs call, which returns a Status; an exception that escapes it becomes COLIBRI_INTERNAL, naming
// the plugin's function. For calls at load time: it costs nothing, but the per-token path does
// without.
template <typename Call>
Status guarded(const char* function, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::exception& thrown) {
    return internal_error(std::string(function) + " let an exception escape: " + thrown.what());
  } catch (...) {
    return internal_error(std::string(function) + " let an exception escape");
  }
}

}  // namespace colibri::plugin
