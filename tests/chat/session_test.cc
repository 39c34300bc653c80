// SPDX-License-Identifier: Apache-2.0
// Conversations with a golden checkpoint: what is computed, what is kept, what a failure leaves.
#include "runtime/chat/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/engine/loaded_model.h"

namespace colibri::chat {
namespace {

using ::testing::HasSubstr;

constexpr const char* kModel = "tests/golden/models/text_bf16";
constexpr const char* kTemplate = "chat.template=tests/chat/bos_turns.jinja";

class SessionTest : public ::testing::Test {
 protected:
  void load(std::vector<std::string> overrides) {
    overrides.insert(overrides.end(), {kTemplate, "generate.max_tokens=6"});
    auto model = test::load_model(kModel, overrides);
    ASSERT_TRUE(model.ok()) << model.status().text();
    model_ = std::move(*model);
    session_ = open();
  }
  std::unique_ptr<Session> open() const {
    auto session = Session::open(*model_);
    EXPECT_TRUE(session.ok()) << session.status().text();
    return session.ok() ? std::move(*session) : nullptr;
  }
  // What the session answers; result_ tells of it.
  std::string say(Session& session, const std::string& text) {
    std::string answer;
    const Status status = session.answer(
        text, {},
        [&](Part, std::string_view piece) {
          answer += piece;
          return true;
        },
        &result_);
    return status.ok() ? answer : "failed: " + status.text();
  }

  std::unique_ptr<engine::Model> model_;
  std::unique_ptr<Session> session_;
  engine::GenerateResult result_;
};

TEST_F(SessionTest, AnswersAreThoseOfAConversationComputedAnew) {
  load({});
  const std::string first = say(*session_, "The fan stopped.");
  const std::string second = say(*session_, "Which fan?");
  const uint32_t computed_once = result_.prompt_tokens;

  // The same conversation in one prompt: the second answer must be the same, byte by byte.
  Conversation whole;
  whole.messages = {{{"role", "user"}, {"content", "The fan stopped."}},
                    {{"role", "assistant"}, {"content", first}},
                    {{"role", "user"}, {"content", "Which fan?"}}};
  const auto rendered = session_->chat_template().render(whole);
  ASSERT_TRUE(rendered.ok());
  const auto ids = encode(*model_->tokenizer(), *rendered);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->size(), computed_once);
  auto context = std::move(*model_->create_context(256));
  auto sampler = std::move(*model_->create_sampler());
  engine::Generator generator(*context, sampler, model_->tokenizer(), model_->spec().eos, {});
  std::string again;
  engine::GenerateResult result;
  ASSERT_TRUE(generator
                  .run(
                      *ids, {6, 0}, {},
                      [&](int32_t, std::string_view piece) {
                        again += piece;
                        return true;
                      },
                      &result)
                  .ok());
  EXPECT_EQ(second, again);
}

TEST_F(SessionTest, ResetForgetsTheConversationAndKeepsTheSystemMessage) {
  load({});
  const std::string plain = say(*session_, "Hello");
  const uint32_t tokens = result_.prompt_tokens;
  say(*session_, "More");
  EXPECT_GT(result_.prompt_tokens, tokens);
  session_->reset();
  EXPECT_EQ(say(*session_, "Hello"), plain);
  EXPECT_EQ(result_.prompt_tokens, tokens);
  session_->set_system("Be brief.");
  say(*session_, "Hello");
  const uint32_t with_system = result_.prompt_tokens;
  EXPECT_GT(with_system, tokens);
  session_->reset();
  say(*session_, "Hello");
  EXPECT_EQ(result_.prompt_tokens, with_system);
}

TEST_F(SessionTest, BosIsThereOnceAndSpecialTokensOfMessagesAreText) {
  load({});
  Conversation conversation;
  conversation.messages = {{{"role", "user"}, {"content", "a <bos> b <eos>"}}};
  const auto rendered = session_->chat_template().render(conversation);
  ASSERT_TRUE(rendered.ok());
  EXPECT_EQ(rendered->view(), "<bos>user: a <bos> b <eos>\nassistant: ");
  const auto ids = encode(*model_->tokenizer(), *rendered);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(std::count(ids->begin(), ids->end(), 0), 1);
  EXPECT_EQ(ids->front(), 0);
  EXPECT_EQ(std::count(ids->begin(), ids->end(), 1), 0);
  const auto text = model_->tokenizer()->decode(ids->data(), ids->size(), false);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, rendered->view());
}

TEST_F(SessionTest, AFailureBeforeTheFirstTokenLeavesTheConversation) {
  load({"context.max_tokens=64"});
  auto other = open();
  const std::string first = say(*session_, "Hello");
  EXPECT_EQ(say(*other, "Hello"), first);
  EXPECT_THAT(say(*session_, "refuse me"), HasSubstr("refuses this conversation: 'as you wish'"));
  EXPECT_THAT(say(*session_, std::string(2000, 'x')), HasSubstr("begin anew with /reset"));
  EXPECT_EQ(say(*session_, "Go on"), say(*other, "Go on"));
}

TEST_F(SessionTest, ACancelledAnswerStaysAndTheConversationGoesOn) {
  load({});
  std::string answer;
  const volatile int stop = 1;
  engine::RunLimits limits;
  limits.cancel = &stop;
  EXPECT_EQ(session_
                ->answer(
                    "Hello", limits, [](Part, std::string_view) { return true; }, &result_)
                .code(),
            COLIBRI_CANCELLED);
  EXPECT_EQ(result_.generated_tokens, 0u);
  int pieces = 0;
  EXPECT_TRUE(session_
                  ->answer(
                      "Hello", {}, [&](Part, std::string_view) { return ++pieces < 2; }, &result_)
                  .ok());
  EXPECT_EQ(result_.stop, engine::StopReason::kCallback);
  const uint32_t before = result_.prompt_tokens;
  say(*session_, "Go on");
  EXPECT_GT(result_.prompt_tokens, before + 2);
}

TEST_F(SessionTest, AModelWithoutTemplateNamesTheFallbacks) {
  auto model = test::load_model(kModel, {});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(Session::open(**model).status().text(),
            std::string(kModel) +
                ": the model has no chat template (no chat_template.jinja, no "
                "tokenizer_config.json: chat_template); choose one: --set chat.template=NAME, "
                "where NAME is chatml, glm, llama2, mistral or a file ending in .jinja");
  model = test::load_model(kModel, {"chat.template=alpaca"});
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(Session::open(**model).status().text(),
              HasSubstr("there is no chat template 'alpaca'; there are: auto, chatml, glm, llama2, "
                        "mistral"));
}

TEST_F(SessionTest, EveryFallbackRenders) {
  for (const char* name : {"chatml", "glm", "llama2", "mistral"}) {
    auto model = test::load_model(kModel, {std::string("chat.template=") + name});
    ASSERT_TRUE(model.ok());
    auto session = Session::open(**model);
    ASSERT_TRUE(session.ok()) << session.status().text();
    Conversation conversation;
    conversation.messages = {{{"role", "system"}, {"content", "S"}},
                             {{"role", "user"}, {"content", "U"}},
                             {{"role", "assistant"}, {"content", "A"}},
                             {{"role", "user"}, {"content", "V"}}};
    const auto text = (*session)->chat_template().render(conversation);
    ASSERT_TRUE(text.ok()) << text.status().text();
    static const std::map<std::string, std::string> kWanted = {
        {"chatml",
         "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\nA"
         "<|im_end|>\n<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n"},
        {"glm", "[gMASK]<sop><|system|>\nS<|user|>\nU<|assistant|>\nA<|user|>\nV<|assistant|>\n"},
        {"llama2", "<bos>[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A <eos><bos>[INST] V [/INST]"},
        {"mistral", "<bos>[INST] S\n\nU [/INST] A<eos>[INST] V [/INST]"}};
    EXPECT_EQ(text->view(), kWanted.at(name)) << name;
  }
}

}  // namespace
}  // namespace colibri::chat
