// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/answer_parts.h"

#include <algorithm>
#include <utility>

namespace colibri::chat {
namespace {

struct Marks {
  std::string_view open, close;
};
constexpr Marks kMarks[] = {{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}};

// Length of the longest end of `text` that is a proper beginning of `mark`.
size_t begun(std::string_view text, std::string_view mark) {
  for (size_t n = std::min(text.size(), mark.size() - 1); n > 0; --n) {
    if (text.ends_with(mark.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

AnswerParts::AnswerParts(std::string_view prompt) {
  while (!prompt.empty() && (prompt.back() == '\n' || prompt.back() == ' '))
    prompt.remove_suffix(1);
  for (const Marks& marks : kMarks) {
    if (prompt.ends_with(marks.open)) part_ = Part::kReasoning;
  }
}

void AnswerParts::push(std::string_view special, std::string_view text, Emit emit) {
  if (!special.empty() && take_special(special, emit)) return;
  switch (frame_) {
    case Frame::kChannel:
      channel_ += text;
      return;
    case Frame::kBetween:
      return;
    case Frame::kBody:
      if (!text.empty()) emit(part_, text);
      return;
    case Frame::kNone:
      held_ += text;
      split(emit);
  }
}

bool AnswerParts::take_special(std::string_view special, Emit emit) {
  for (const Marks& marks : kMarks) {
    if (special != marks.open && special != marks.close) continue;
    finish(emit);
    part_ = special == marks.open ? Part::kReasoning : Part::kAnswer;
    return true;
  }
  if (special == "<|channel|>") {
    finish(emit);
    channel_.clear();
    frame_ = Frame::kChannel;
    return true;
  }
  if (special == "<|message|>" && frame_ == Frame::kChannel) {
    // "commentary to=functions.x" and the like stand in the header, too.
    part_ = channel_.starts_with("final") ? Part::kAnswer : Part::kReasoning;
    frame_ = Frame::kBody;
    return true;
  }
  if (special == "<|end|>" && frame_ == Frame::kBody) {
    frame_ = Frame::kBetween;  // the header of the next message follows
    return true;
  }
  return false;
}

void AnswerParts::split(Emit emit) {
  for (;;) {
    size_t found = std::string::npos;
    size_t size = 0;
    size_t hold = 0;
    for (const Marks& marks : kMarks) {
      const std::string_view mark = part_ == Part::kAnswer ? marks.open : marks.close;
      const size_t at = held_.find(mark);
      if (at < found) {
        found = at;
        size = mark.size();
      }
      hold = std::max(hold, begun(held_, mark));
    }
    const size_t ready = found != std::string::npos ? found : held_.size() - hold;
    if (ready > 0) emit(part_, std::string_view(held_).substr(0, ready));
    held_.erase(0, ready + size);
    if (found == std::string::npos) return;
    part_ = part_ == Part::kAnswer ? Part::kReasoning : Part::kAnswer;
  }
}

void AnswerParts::finish(Emit emit) {
  if (!held_.empty()) emit(part_, held_);
  held_.clear();
}

}  // namespace colibri::chat
