// SPDX-License-Identifier: Apache-2.0
// What every subcommand shares: exit codes and how failures are told. One file per subcommand, each
// with a function add_<name>_command(CLI::App&, Invocation&) that main.cc calls.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace colibri::cli {

enum ExitCode {
  kDone = 0,
  kFailed = 1,   // while running
  kRefused = 2,  // before the first token: usage, configuration, model, plugin
};

struct Invocation {
  int exit_code = kDone;

  // Prints the failure to standard error and sets the exit code.
  void fail(const Status& status, ExitCode code);
};

// Writes to standard output; COLIBRI_IO if it does not take the text (a closed pipe, a full disk).
Status print(const std::string& text);
Status flush_output();

}  // namespace colibri::cli
