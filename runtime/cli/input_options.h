// SPDX-License-Identifier: Apache-2.0
// Where the text to work on comes from: -p, -f, or standard input.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "runtime/base/status.h"

namespace colibri::cli {

struct InputOptions {
  std::string prompt;
  std::string file;

  void add_to(CLI::App& command);
  // The text, which must be UTF-8 and at most kMaxInputBytes; one line end at its end is dropped,
  // because files and pipes have one that is not meant.
  Result<std::string> read() const;

 private:
  CLI::Option* prompt_option_ = nullptr;
};

constexpr uint64_t kMaxInputBytes = 64u << 20;

}  // namespace colibri::cli
