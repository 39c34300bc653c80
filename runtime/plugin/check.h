// SPDX-License-Identifier: Apache-2.0
// The conformance check of one plugin file: does it keep the promises of docs/abi.md? Each group of
// questions runs in a child process, so that a plugin which crashes is a result and not the end of
// the check.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/machine/profile.h"
#include "runtime/plugin/plugin.h"

namespace colibri::plugin {

struct CheckResult {
  enum class Outcome { kPassed, kFailed, kSkipped };
  std::string group;
  Outcome outcome = Outcome::kPassed;
  std::string text;  // what was found; why it was skipped
};

// One group: looks at the opened plugin, and returns ok, or COLIBRI_UNSUPPORTED with the reason if
// there is nothing to ask it, or any other failure with what is wrong. Runs in the child.
struct CheckGroup {
  std::string name;
  std::function<Status(const Plugin& plugin)> run;
};

// The groups manifest, load, lifecycle, bad input and workers, then `more`. Each group after a
// failed manifest or load is skipped. The calling process must have no other threads. [setup]
std::vector<CheckResult> check_plugin(const std::string& file, const machine::Profile& profile,
                                      const std::vector<CheckGroup>& more);

}  // namespace colibri::plugin
