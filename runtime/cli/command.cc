// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/command.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace colibri::cli {
namespace {

Status output_error() {
  return io_error("cannot write to standard output: " +
                  std::generic_category().message(errno == 0 ? EIO : errno));
}

}  // namespace

void Invocation::fail(const Status& status, ExitCode code) {
  std::fprintf(stderr, "colibri: %s\n", status.text().c_str());
  exit_code = code;
}

Status print(const std::string& text) {
  errno = 0;
  const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  return written == text.size() ? Status() : output_error();
}

Status flush_output() {
  errno = 0;
  return std::fflush(stdout) == 0 ? Status() : output_error();
}

}  // namespace colibri::cli
