// SPDX-License-Identifier: Apache-2.0
// The exception barrier. Nothing of ours throws, but libraries, allocations and plugins may: what
// calls them, or is called through a C table, goes through here. Thread-safe.
//
//   colibri_status create(..., colibri_error* error) {
//     return guard(error, [&]() -> Status { ...; return {}; });
//   }
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "runtime/base/status.h"

namespace colibri {

// COLIBRI_INTERNAL with "WHO let an exception escape: REASON"; a null reason is left out.
Status escaped_exception(const char* who, const char* reason) noexcept;

// Runs body, which returns a Status. Of what it lets escape, std::bad_alloc becomes
// COLIBRI_OUT_OF_MEMORY, anything else COLIBRI_INTERNAL, naming who did it. Costs nothing when
// nothing is thrown.
template <typename Body>
Status guarded(const char* who, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return {COLIBRI_OUT_OF_MEMORY, "out of memory"};  // short: allocates nothing
  } catch (const std::exception& thrown) {
    return escaped_exception(who, thrown.what());
  } catch (...) {
    return escaped_exception(who, nullptr);
  }
}

// The body of a C function: hands the outcome to its caller. `error` may be null.
template <typename Body>
colibri_status guard(colibri_error* error, Body&& body) noexcept {
  return to_c(guarded("a library", std::forward<Body>(body)), error);
}

}  // namespace colibri
