// SPDX-License-Identifier: Apache-2.0
// What one call may take: threads, time, and the caller's wish to stop.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/base/status.h"

namespace colibri::engine {

struct RunLimits {
  unsigned threads = 0;  // 0 = what the pipeline says
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const volatile int* cancel = nullptr;  // non-zero ends the call

  // COLIBRI_CANCELLED if the call has to end now. Asked between layers.
  Status check() const {
    if (cancel != nullptr && *cancel != 0) return cancelled("cancelled by the caller");
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      return cancelled("the deadline of the call passed");
    }
    return {};
  }
};

}  // namespace colibri::engine
