// SPDX-License-Identifier: Apache-2.0
// What a user types in a conversation: messages, also of several lines, and commands.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::cli {

struct ChatInput {
  enum class Kind { kMessage, kCommand, kInterrupted, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  // of a command: without the slash
};

// Reads standard input line by line.
class ChatReader {
 public:
  // Where the user types, `prompt` stands before each message.
  explicit ChatReader(std::string_view prompt) : prompt_(prompt) {}

  // The next message or command. A line that ends with a backslash goes on in the next one; lines
  // between """ and """ are one message. Ctrl-C drops what was typed. Empty lines are passed over.
  // Fails for input that is not UTF-8 or longer than kMaxInputBytes, and goes on behind it.
  Result<ChatInput> next();
  bool interactive() const;

 private:
  enum class Line { kRead, kInterrupted, kEnd };
  Result<Line> read_line(std::string& line);
  Result<Line> read_block(std::string& text);
  void show(std::string_view prompt) const;

  const std::string_view prompt_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace colibri::cli
