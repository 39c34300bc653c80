// SPDX-License-Identifier: Apache-2.0
// Tells the reasoning of an answer from the answer. Two forms are known: <think>...</think> (and
// [THINK]...[/THINK]), as tokens or as text, and the channels of the Harmony format, where special
// tokens frame messages: <|channel|>NAME<|message|>text<|end|>, and only the channel "final" is
// the answer.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/function_ref.h"

namespace colibri::chat {

enum class Part { kReasoning, kAnswer };

class AnswerParts {
 public:
  using Emit = FunctionRef<void(Part part, std::string_view text)>;

  // The end of the prompt says whether the answer begins with reasoning: templates may open it.
  explicit AnswerParts(std::string_view prompt);

  // A piece of the answer. special: the spelling of the token if it is a special one, whose text is
  // not in `text`; else empty.
  void push(std::string_view special, std::string_view text, Emit emit);
  // Everything held back because it could have been the beginning of a mark.
  void finish(Emit emit);

 private:
  bool take_special(std::string_view special, Emit emit);
  void split(Emit emit);

  enum class Frame { kNone, kChannel, kBody, kBetween };
  Part part_ = Part::kAnswer;
  Frame frame_ = Frame::kNone;
  std::string held_;     // text that may begin a mark
  std::string channel_;  // its name so far
};

}  // namespace colibri::chat
