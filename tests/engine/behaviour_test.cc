// SPDX-License-Identifier: Apache-2.0
// What callers of the engine rely on besides right numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "runtime/base/file.h"
#include "runtime/base/utf8.h"
#include "runtime/engine/generator.h"
#include "runtime/engine/prompt.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

using testing::HasSubstr;

constexpr const char* kText = "tests/golden/models/text_bf16";
constexpr const char* kSampling =
    "sampling=[{plugin: temperature, options: {value: 1.5}}, {plugin: top_k, options: {k: 50}}]";

struct Answer {
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  engine::GenerateResult result;
  Status status;

  std::string text() const {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
  }
};

class BehaviourTest : public testing::Test {
 protected:
  ~BehaviourTest() override { fault_injection::set_read_fault({}); }

  void load(const std::vector<std::string>& settings, const char* path = kText) {
    auto loaded = load_model(path, settings);
    ASSERT_TRUE(loaded.ok()) << loaded.status().text();
    model_ = std::move(*loaded);
    auto context = model_->create_context(model_->plan().max_tokens);
    ASSERT_TRUE(context.ok()) << context.status().text();
    context_ = std::move(*context);
  }

  Answer generate(uint32_t max_tokens, uint64_t seed = 1, std::vector<int32_t> eos = {},
                  std::vector<std::string> stop = {}, const engine::RunLimits& limits = {},
                  int stop_after = -1) {
    auto sampler = model_->create_sampler();
    EXPECT_TRUE(sampler.ok()) << sampler.status().text();
    engine::Generator generator(*context_, *sampler, model_->tokenizer(), std::move(eos),
                                std::move(stop));
    const std::vector<int32_t> prompt = {1, 20, 300, 41};
    Answer answer;
    answer.status = generator.run(
        prompt, {max_tokens, seed}, limits,
        [&](int32_t id, std::string_view text) {
          answer.ids.push_back(id);
          answer.pieces.emplace_back(text);
          return static_cast<int>(answer.ids.size()) != stop_after;
        },
        &answer.result);
    return answer;
  }

  std::vector<float> logits_of(engine::Context& context, const std::vector<int32_t>& ids) {
    std::vector<float> logits(static_cast<size_t>(context.vocabulary()));
    const Status status = context.forward(ids, engine::LogitsOf::kLast, logits.data());
    EXPECT_TRUE(status.ok()) << status.text();
    return logits;
  }

  std::unique_ptr<engine::Model> model_;
  std::unique_ptr<engine::Context> context_;
};

TEST_F(BehaviourTest, ASeedGivesTheSameTextAndAnotherSeedAnother) {
  load({kSampling});
  const Answer first = generate(40, 1);
  EXPECT_EQ(generate(40, 1).ids, first.ids);
  EXPECT_NE(generate(40, 2).ids, first.ids);
}

TEST_F(BehaviourTest, EveryEndOfTextIdEndsIt) {
  load({});
  const Answer all = generate(20);
  ASSERT_EQ(all.ids.size(), 20u);
  for (const size_t at : {3u, 9u}) {
    const int32_t id = all.ids[at];
    const auto first =
        static_cast<size_t>(std::find(all.ids.begin(), all.ids.end(), id) - all.ids.begin());
    const Answer ended = generate(20, 1, {599, id});
    EXPECT_EQ(ended.ids.size(), first + 1);
    EXPECT_EQ(ended.result.stop, engine::StopReason::kEos);
  }
}

TEST_F(BehaviourTest, TextComesInWholeCharactersAndAddsUp) {
  load({kSampling});
  for (uint64_t seed = 1; seed < 6; ++seed) {
    const Answer answer = generate(60, seed);
    ASSERT_TRUE(answer.status.ok()) << answer.status.text();
    for (const std::string& piece : answer.pieces) EXPECT_TRUE(utf8::valid(piece)) << piece;
    const auto whole = model_->tokenizer()->decode(answer.ids.data(), answer.ids.size(), true);
    EXPECT_EQ(answer.text(), *whole);
  }
}

TEST_F(BehaviourTest, StopStringsCutTheText) {
  load({kSampling});
  const std::string whole = generate(60, 3).text();
  ASSERT_GT(whole.size(), 30u);
  size_t at = 20;
  while (!utf8::valid(whole.substr(at, 4))) ++at;
  const std::string stop = whole.substr(at, 4);
  const Answer cut = generate(60, 3, {}, {stop});
  EXPECT_EQ(cut.text(), whole.substr(0, whole.find(stop)));
  EXPECT_EQ(cut.result.stop, engine::StopReason::kStopString);
  EXPECT_LT(cut.ids.size(), 60u);
}

TEST_F(BehaviourTest, TheCallbackTheCallerAndTheClockCanEndIt) {
  load({});
  const Answer stopped = generate(20, 1, {}, {}, {}, 5);
  EXPECT_EQ(stopped.ids.size(), 5u);
  EXPECT_EQ(stopped.result.stop, engine::StopReason::kCallback);

  const volatile int cancel = 1;
  engine::RunLimits limits;
  limits.cancel = &cancel;
  EXPECT_EQ(generate(20, 1, {}, {}, limits).status.code(), COLIBRI_CANCELLED);

  limits = {};
  limits.deadline = std::chrono::steady_clock::now();
  const Answer late = generate(20, 1, {}, {}, limits);
  EXPECT_EQ(late.status.code(), COLIBRI_CANCELLED);
  EXPECT_EQ(late.result.stop, engine::StopReason::kCancelled);
  EXPECT_EQ(generate(20).ids.size(), 20u);
}

TEST_F(BehaviourTest, AFullContextEndsTheTextAndRefusesMore) {
  load({"context.max_tokens=16"});
  const Answer answer = generate(100);
  EXPECT_TRUE(answer.status.ok()) << answer.status.text();
  EXPECT_EQ(answer.result.stop, engine::StopReason::kLength);
  EXPECT_EQ(answer.ids.size(), 13u);  // 4 of the prompt, 12 computed, one more sampled
  const int32_t id = 1;
  float unused = 0;
  const Status status = context_->forward({&id, 1}, engine::LogitsOf::kLast, &unused);
  EXPECT_THAT(status.text(), HasSubstr("holds 16 of 16 tokens"));
}

TEST_F(BehaviourTest, APlanThatThisMachineCannotHoldIsMadeAndNotLoaded) {
  auto plan = make_plan(kText, {});
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  EXPECT_TRUE((*plan)->check_memory().ok());
  (*plan)->memory.available = (*plan)->memory.total() - 1;
  const auto loaded = engine::Model::load(std::move(*plan));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), COLIBRI_OUT_OF_MEMORY);
  EXPECT_THAT(loaded.status().text(), HasSubstr("but this machine can give"));
}

TEST_F(BehaviourTest, IdsOutsideTheVocabularyAreRefused) {
  load({});
  for (const int32_t id : {-1, 600}) {
    const std::vector<int32_t> ids = {1, id};
    const Status status = context_->forward(ids, engine::LogitsOf::kLast, nullptr);
    EXPECT_EQ(status.code(), COLIBRI_INVALID_ARGUMENT);
    EXPECT_THAT(status.text(), HasSubstr("id " + std::to_string(id) + " at index 1"));
  }
  EXPECT_EQ(context_->forward({}, engine::LogitsOf::kLast, nullptr).code(),
            COLIBRI_INVALID_ARGUMENT);
}

TEST_F(BehaviourTest, AFailedCallLeavesTheSequenceAsItWas) {
  load({"experts.budget=20%"});
  logits_of(*context_, {1, 2, 3});
  fault_injection::set_read_fault(
      [](const std::filesystem::path&, uint64_t, uint64_t) { return -EIO; });
  std::vector<int32_t> many(40);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int32_t>(i * 13 % 600);
  std::vector<float> logits(600);
  const Status status = context_->forward(many, engine::LogitsOf::kLast, logits.data());
  EXPECT_EQ(status.code(), COLIBRI_IO);
  EXPECT_THAT(status.text(), HasSubstr("Input/output error"));
  EXPECT_EQ(context_->tokens(), 3);
  fault_injection::set_read_fault({});
  const std::vector<float> after = logits_of(*context_, {4, 5});
  context_->reset();
  EXPECT_EQ(logits_of(*context_, {1, 2, 3, 4, 5}), after);
}

TEST_F(BehaviourTest, ContextsOfOneModelAreIndependentAcrossThreads) {
  for (const char* budget : {"experts.budget=all", "experts.budget=20%"}) {
    load({budget, "threads.count=2"});
    const std::vector<int32_t> a = {1, 2, 3, 4, 5, 6, 7}, b = {100, 200, 300};
    const std::vector<float> want_a = logits_of(*context_, a);
    context_->reset();
    const std::vector<float> want_b = logits_of(*context_, b);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        auto context = std::move(*model_->create_context(64));
        for (int repeat = 0; repeat < 5; ++repeat) {
          context->reset();
          EXPECT_EQ(logits_of(*context, i % 2 == 0 ? a : b), i % 2 == 0 ? want_a : want_b);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(BehaviourTest, SpecialTokensInTheInputStayText) {
  load({});
  const engine::Tokenizer& tokenizer = *model_->tokenizer();
  int32_t special = -1;
  for (int32_t id = 0; id < static_cast<int32_t>(tokenizer.vocabulary()); ++id) {
    if (tokenizer.is_special(id) && !tokenizer.token_bytes(id).empty()) special = id;
  }
  ASSERT_GE(special, 0);
  const std::string spelled(tokenizer.token_bytes(special));
  const auto count = [&](const std::string& prompt, const std::string& input) {
    const auto ids = engine::encode_prompt(tokenizer, prompt, input);
    EXPECT_TRUE(ids.ok()) << ids.status().text();
    return std::count(ids->begin(), ids->end(), special);
  };
  const auto plain = count("x {input} y", "z");
  EXPECT_EQ(count("x {input} y", "z" + spelled), plain);
  EXPECT_EQ(count(spelled + "{input}", "z"), plain + 1);
  EXPECT_EQ(count(spelled + "{input}", "z" + spelled), plain + 1);
  EXPECT_EQ(count("{input}", "z" + spelled), plain + 1);
}

}  // namespace
}  // namespace colibri::test
