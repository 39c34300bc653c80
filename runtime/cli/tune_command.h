// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "runtime/cli/command.h"

namespace colibri::cli {

void add_tune_command(CLI::App& app, Invocation& invocation);

}  // namespace colibri::cli
