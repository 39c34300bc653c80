// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace colibri::plugin {
namespace {

constexpr char kEnd =
    '\0';  // the last byte of an answer: without it the child did not get that far

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string read_all(int descriptor) {
  std::string text;
  char piece[4096];
  while (true) {
    const ssize_t got = read(descriptor, piece, sizeof(piece));
    if (got > 0) text.append(piece, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

std::string ending(int status, unsigned seconds) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGALRM) return "was not done after " + std::to_string(seconds) + " s";
    return "crashed with signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "ended the process with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::string> run_in_child(FunctionRef<std::string()> work, unsigned seconds) {
  int ends[2];
  if (pipe(ends) != 0) return io_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    return io_error(std::string("cannot start a process: ") + std::strerror(reason));
  }
  if (child == 0) {
    close(ends[0]);
    std::signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    const std::string answer = work() + kEnd;
    _exit(write_all(ends[1], answer) ? 0 : 1);
  }
  close(ends[1]);
  std::string answer = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty() || answer.back() != kEnd) return internal_error(ending(status, seconds));
  answer.pop_back();
  return answer;
}

}  // namespace colibri::plugin
