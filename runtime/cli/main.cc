// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "colibri/plugin.h"
#include "runtime/base/log.h"
#include "runtime/cli/bench_command.h"
#include "runtime/cli/cache_command.h"
#include "runtime/cli/chat_command.h"
#include "runtime/cli/command.h"
#include "runtime/cli/config_command.h"
#include "runtime/cli/convert_command.h"
#include "runtime/cli/inspect_command.h"
#include "runtime/cli/plan_command.h"
#include "runtime/cli/plugins_command.h"
#include "runtime/cli/run_command.h"
#include "runtime/cli/tokenize_command.h"
#include "runtime/cli/tune_command.h"
#include "runtime/cli/verify_command.h"

namespace colibri::cli {
namespace {

int run_program(int argc, char** argv) {
  // A reader that went away is a failed write with a message, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  set_log_sink([](int32_t level, std::string_view line) {
    if (level == COLIBRI_LOG_DEBUG) return;
    std::fprintf(stderr, "colibri: %.*s\n", static_cast<int>(line.size()), line.data());
  });

  CLI::App app("Colibri runs Mixture-of-Experts language models on the machine you have.",
               "colibri");
  app.set_version_flag("--version", "colibri " COLIBRI_VERSION_TEXT);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  Invocation invocation;
  add_run_command(app, invocation);
  add_chat_command(app, invocation);
  add_plan_command(app, invocation);
  add_bench_command(app, invocation);
  add_tune_command(app, invocation);
  add_inspect_command(app, invocation);
  add_tokenize_command(app, invocation);
  add_plugins_command(app, invocation);
  add_config_command(app, invocation);
  add_convert_command(app, invocation);
  add_verify_command(app, invocation);
  add_cache_command(app, invocation);
  // CLI11 only says that a command is required, not that this one is unknown.
  if (argc > 1 && argv[1][0] != '-') {
    std::string known;
    bool found = false;
    for (const CLI::App* command : app.get_subcommands({})) {
      found = found || command->get_name() == argv[1];
      known += " " + command->get_name();
    }
    if (!found) {
      const std::string text = "unknown command '" + std::string(argv[1]) + "'; there are:" + known;
      invocation.fail(invalid_argument(text), kRefused);
      return invocation.exit_code;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kRefused;
  }
  if (Status status = flush_output(); !status.ok()) invocation.fail(status, kFailed);
  return invocation.exit_code;
}

}  // namespace
}  // namespace colibri::cli

int main(int argc, char** argv) {
  try {
    return colibri::cli::run_program(argc, argv);
  } catch (const std::exception& failure) {  // memory ran out, or a library broke its word
    std::fprintf(stderr, "colibri: unexpected failure: %s\n", failure.what());
    return colibri::cli::kFailed;
  }
}
