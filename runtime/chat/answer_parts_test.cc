// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/answer_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace colibri::chat {
namespace {

using Pushed = std::vector<std::pair<std::string, std::string>>;  // special token, text

// "r:..." and "a:...", neighbours of one kind joined.
std::string parts_of(const std::string& prompt, const Pushed& pushed) {
  AnswerParts parts(prompt);
  std::string made;
  Part last = Part::kAnswer;
  const auto emit = [&](Part part, std::string_view text) {
    if (made.empty() || part != last) made += part == Part::kReasoning ? "[r]" : "[a]";
    made += text;
    last = part;
  };
  for (const auto& [special, text] : pushed) parts.push(special, text, emit);
  parts.finish(emit);
  return made;
}

Pushed letters(const std::string& text) {
  Pushed pushed;
  for (const char c : text) pushed.push_back({"", std::string(1, c)});
  return pushed;
}

TEST(AnswerParts, WithoutMarksAllIsTheAnswer) {
  EXPECT_EQ(parts_of("<|assistant|>\n", letters("a < b <thin air> </think>")),
            "[a]a < b <thin air> </think>");
}

TEST(AnswerParts, MarksAsTextAreFoundHoweverTheyAreCut) {
  const std::string text = "<think>\nTwo <b>.\n</think>\n\nFour.";
  const std::string wanted = "[r]\nTwo <b>.\n[a]\n\nFour.";
  EXPECT_EQ(parts_of("", letters(text)), wanted);
  EXPECT_EQ(parts_of("", {{"", text}}), wanted);
}

TEST(AnswerParts, MarksAsSpecialTokens) {
  EXPECT_EQ(parts_of("", {{"<think>", ""}, {"", "Two"}, {"</think>", ""}, {"", "Four"}}),
            "[r]Two[a]Four");
  EXPECT_EQ(parts_of("", {{"[THINK]", ""}, {"", "Two"}, {"[/THINK]", ""}, {"", "Four"}}),
            "[r]Two[a]Four");
}

TEST(AnswerParts, ThePromptMayHaveOpenedTheReasoning) {
  EXPECT_EQ(parts_of("<|assistant|>\n<think>\n", letters("Two</think>Four")), "[r]Two[a]Four");
  EXPECT_EQ(parts_of("<|assistant|>\n<think>\n\n</think>\n\n", letters("Four")), "[a]Four");
}

TEST(AnswerParts, AReasoningThatNeverEndsIsReasoning) {
  EXPECT_EQ(parts_of("", letters("<think>Two </thin")), "[r]Two </thin");
}

TEST(AnswerParts, OnlyTheFinalChannelIsTheAnswer) {
  EXPECT_EQ(parts_of("<|start|>assistant", {{"<|channel|>", ""},
                                            {"", "anal"},
                                            {"", "ysis"},
                                            {"<|message|>", ""},
                                            {"", "Two <think>"},
                                            {"<|end|>", ""},
                                            {"<|start|>", ""},
                                            {"", "assistant"},
                                            {"<|channel|>", ""},
                                            {"", "final"},
                                            {"<|message|>", ""},
                                            {"", "Four"},
                                            {"<|return|>", ""}}),
            "[r]Two <think>[a]Four");
}

TEST(AnswerParts, TheSameTokensMeanNothingInOtherFormats) {
  EXPECT_EQ(parts_of("", {{"", "x"}, {"<|end|>", ""}, {"", "y"}, {"<|message|>", "z"}}), "[a]xyz");
}

}  // namespace
}  // namespace colibri::chat
