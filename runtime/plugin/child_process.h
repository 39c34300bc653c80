// SPDX-License-Identifier: Apache-2.0
// Runs code that may crash in a process of its own.
#pragma once

#include <string>

#include "runtime/base/function_ref.h"
#include "runtime/base/status.h"

namespace colibri::plugin {

// Runs work in a forked child and returns what it returned. Errors: COLIBRI_INTERNAL saying how the
// child ended instead (by a signal, by leaving the program, by not being done after `seconds`);
// COLIBRI_IO if there is no child. The calling process must have no other threads. [setup]
Result<std::string> run_in_child(FunctionRef<std::string()> work, unsigned seconds);

}  // namespace colibri::plugin
