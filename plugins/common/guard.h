// SPDX-License-Identifier: Apache-2.0
// The exception barrier of a plugin written in C++: what a function of an interface table does goes
// into guard(), and nothing is thrown across the C boundary. Header-only; needs colibri_base.
//
//   colibri_status create(..., colibri_error* error) {
//     return plugin::guard(error, [&]() -> Status { ...; return {}; });
//   }
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "colibri/plugin.h"
#include "runtime/base/status.h"

namespace colibri::plugin {

// Runs body, which returns a Status, and hands the outcome to the caller of the C function.
// std::bad_alloc becomes COLIBRI_OUT_OF_MEMORY, any other exception COLIBRI_INTERNAL with its text.
// `error` may be null. Thread-safe.
template <typename Body>
colibri_status guard(colibri_error* error, Body&& body) noexcept {
  try {
    return to_c(std::forward<Body>(body)(), error);
  } catch (const std::bad_alloc&) {
    return to_c(Status(COLIBRI_OUT_OF_MEMORY, "out of memory"), error);  // short: allocates nothing
  } catch (const std::exception& thrown) {
    try {
      return to_c(internal_error(std::string("unexpected exception: ") + thrown.what()), error);
    } catch (...) {
      return to_c(Status(COLIBRI_INTERNAL, "exception"), error);
    }
  } catch (...) {
    return to_c(Status(COLIBRI_INTERNAL, "exception"), error);
  }
}

}  // namespace colibri::plugin
