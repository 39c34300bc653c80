// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/input_options.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "runtime/base/file.h"
#include "runtime/base/utf8.h"

namespace colibri::cli {
namespace {

Result<std::string> read_standard_input() {
  if (isatty(STDIN_FILENO) != 0) {
    return invalid_argument("no input: give a text with -p, a file with -f, or pipe one in");
  }
  std::string text;
  char piece[65536];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return io_error("reading standard input failed: " + std::generic_category().message(errno));
    }
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (text.size() > kMaxInputBytes) {
      return invalid_argument("standard input holds more than " + std::to_string(kMaxInputBytes) +
                              " bytes");
    }
  }
}

}  // namespace

void InputOptions::add_to(CLI::App& command) {
  prompt_option_ = command.add_option("-p,--prompt", prompt, "The input text");
  command
      .add_option("-f,--file", file,
                  "A file with the input text; without -p and -f it is read "
                  "from standard input")
      ->excludes(prompt_option_);
}

Result<std::string> InputOptions::read() const {
  if (prompt_option_->count() > 0) {
    if (!utf8::valid(prompt)) return invalid_argument("-p: the text is not UTF-8");
    return prompt;
  }
  COLIBRI_ASSIGN(std::string text,
                 file.empty() ? read_standard_input() : read_file(file, kMaxInputBytes));
  if (const size_t good = utf8::valid_prefix(text); good != text.size()) {
    return invalid_argument((file.empty() ? "standard input" : file) +
                            ": the text is not UTF-8 at byte " + std::to_string(good));
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace colibri::cli
