// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/chat_input.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "runtime/base/utf8.h"
#include "runtime/cli/input_options.h"
#include "runtime/cli/interrupt.h"

namespace colibri::cli {
namespace {

constexpr std::string_view kFence = "\"\"\"";

}  // namespace

bool ChatReader::interactive() const {
  return isatty(STDIN_FILENO) != 0;
}

void ChatReader::show(std::string_view prompt) const {
  if (!interactive()) return;
  std::fprintf(stderr, "%.*s", static_cast<int>(prompt.size()), prompt.data());
  std::fflush(stderr);
}

Result<ChatReader::Line> ChatReader::read_line(std::string& line) {
  const Interrupt interrupt;  // a signal ends the read below
  for (;;) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos || (ended_ && !buffer_.empty())) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return Line::kRead;
    }
    if (ended_) return Line::kEnd;
    if (buffer_.size() > kMaxInputBytes) {
      buffer_.clear();
      return invalid_argument("the line has more than " + std::to_string(kMaxInputBytes) +
                              " bytes");
    }
    char piece[4096];
    const ssize_t got = ::read(STDIN_FILENO, piece, sizeof(piece));
    if (*interrupt.flag() != 0) return Line::kInterrupted;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      ended_ = true;
      return io_error("reading standard input failed: " + std::generic_category().message(errno));
    }
    ended_ = got == 0;
    buffer_.append(piece, static_cast<size_t>(got));
  }
}

// The lines behind an opening fence; `text` holds what stands on its line.
Result<ChatReader::Line> ChatReader::read_block(std::string& text) {
  while (!text.ends_with(kFence)) {
    show("... ");
    std::string line;
    COLIBRI_ASSIGN(const Line read, read_line(line));
    if (read == Line::kInterrupted) return read;
    if (read == Line::kEnd) {
      return invalid_argument("the input ends within a block of \"\"\"; close it with \"\"\"");
    }
    if (text.size() + line.size() > kMaxInputBytes) {
      return invalid_argument("the message has more than " + std::to_string(kMaxInputBytes) +
                              " bytes");
    }
    text += (text.empty() ? "" : "\n") + line;
  }
  text.resize(text.size() - kFence.size());
  if (text.ends_with('\n')) text.pop_back();
  return Line::kRead;
}

Result<ChatInput> ChatReader::next() {
  std::string text;
  bool block = false;
  show(prompt_);
  for (;;) {
    std::string line;
    COLIBRI_ASSIGN(Line read, read_line(line));
    if (read == Line::kRead && text.empty() && line.starts_with(kFence)) {
      block = true;
      text = line.substr(kFence.size());
      COLIBRI_ASSIGN(read, read_block(text));
    } else {
      text += line;
    }
    if (read == Line::kInterrupted) return ChatInput{ChatInput::Kind::kInterrupted, {}};
    if (read == Line::kEnd && text.empty()) return ChatInput{};
    if (read == Line::kRead && !block && text.ends_with('\\') && text.size() <= kMaxInputBytes) {
      text.back() = '\n';
      show("... ");
      continue;
    }
    if (!text.empty()) break;
  }
  if (const size_t good = utf8::valid_prefix(text); good != text.size()) {
    return invalid_argument("the message is not UTF-8 at byte " + std::to_string(good));
  }
  if (!block && text.starts_with('/')) {
    return ChatInput{ChatInput::Kind::kCommand, text.substr(1)};
  }
  return ChatInput{ChatInput::Kind::kMessage, text};
}

}  // namespace colibri::cli
