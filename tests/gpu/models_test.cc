// SPDX-License-Identifier: Apache-2.0
// Models on a device with the kernels of plugins/cuda (DEVICE, a plugin in FOLDER or an installed
// one): greedy ids are those of transformers, and logits the bytes of the CPU's, of a sequence alone
// and of one in a batch.
#include <gtest/gtest.h>

#include <memory>

#include "tests/engine/golden.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

using Texts = std::vector<std::string>;
constexpr char kSearch[] = "plugins.search=[" FOLDER "]";

Result<std::unique_ptr<engine::Model>> load_there(const std::string& path, Texts settings) {
  settings.push_back(kSearch);
  settings.push_back("placement=" DEVICE);
  return load_model(path, settings);
}

class ModelsOnDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status status = make_plan("models/demo", {kSearch, "placement=" DEVICE}).status();
    const std::string& text = status.text();
    if (text.find("plugin cuda cannot be used") != text.npos) GTEST_SKIP() << text;
    ASSERT_TRUE(status.ok()) << text;
  }
};

// What a model computes after a prompt, greedily.
struct Answer {
  std::vector<int32_t> ids;
  std::vector<float> logits;  // of the prompt's last position and of all but the last id
  bool operator==(const Answer&) const = default;
};
Answer answer_of(const engine::Model& model, const std::vector<int32_t>& prompt, size_t count) {
  auto context = model.create_context(model.plan().max_tokens);
  EXPECT_TRUE(context.ok()) << context.status().text();
  if (!context.ok()) return {};
  const auto vocabulary = static_cast<size_t>(model.spec().vocabulary);
  Answer answer;
  answer.logits.resize(count * vocabulary);
  std::vector<int32_t> next = prompt;
  while (answer.ids.size() < count) {
    float* const logits = &answer.logits[answer.ids.size() * vocabulary];
    const Status status = (*context)->forward(next, engine::LogitsOf::kLast, logits);
    EXPECT_TRUE(status.ok()) << status.text();
    if (!status.ok()) break;
    answer.ids.push_back(argmax(logits, vocabulary));
    next = {answer.ids.back()};
  }
  return answer;
}

TEST_F(ModelsOnDeviceTest, GoldensAreAnsweredAsByTransformersAndByTheCpu) {
  int computed = 0;
  for (const auto& path : golden_models("tests/golden")) {
    SCOPED_TRACE(path);
    const auto model = load_there(path, {"context.kv=f32"});
    if (!model.ok()) {  // codecs that have no kernel there
      EXPECT_NE(model.status().text().find(DEVICE " does not compute "), std::string::npos)
          << model.status().text();
      continue;
    }
    ++computed;
    const GoldenCase golden = read_golden(path / "reference.json").front();
    const std::vector<int32_t> want(golden.greedy.begin(), golden.greedy.begin() + 16);
    const Answer there = answer_of(**model, golden.prompt, want.size());
    EXPECT_EQ(there.ids, want);
    const auto cpu = load_model(path, {"context.kv=f32"});
    ASSERT_TRUE(cpu.ok()) << cpu.status().text();
    EXPECT_TRUE(there == answer_of(**cpu, golden.prompt, want.size()));
  }
  EXPECT_GE(computed, 40);
}

TEST_F(ModelsOnDeviceTest, TheDemoAnswersAsOnTheCpu) {
  std::vector<int32_t> prompt(40);  // more rows than the kernels multiply one by one
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(1 + 37 * i % 250);
  for (const auto& [quantize, kv] : {std::pair("model.quantize=none", "context.kv=f16"),
                                     std::pair("model.quantize=q8_0", "context.kv=q8_0"),
                                     std::pair("model.quantize=q4_0", "context.kv=f16")}) {
    SCOPED_TRACE(quantize);
    const auto cpu = load_model("models/demo", {quantize, kv});
    ASSERT_TRUE(cpu.ok()) << cpu.status().text();
    const Answer want = answer_of(**cpu, prompt, 12);
    ASSERT_EQ(want.ids.size(), 12u);
    for (const char* place : {"placement=" DEVICE, "placement={dense: " DEVICE ", experts: cpu}"}) {
      const auto there = load_model("models/demo", {kSearch, quantize, kv, place});
      ASSERT_TRUE(there.ok()) << there.status().text();
      EXPECT_TRUE(answer_of(**there, prompt, 12) == want) << place;
    }
    const Texts apart = {kSearch, quantize, kv, "placement={dense: " DEVICE ", experts: cpu}"};
    const auto memory = memory_for_some("models/demo", apart, 0.5);
    ASSERT_TRUE(memory.ok()) << memory.status().text();
    const auto some = load_model("models/demo",
                                 {kSearch, quantize, kv, "placement={dense: " DEVICE "}", *memory});
    ASSERT_TRUE(some.ok()) << some.status().text();
    ASSERT_NE((*some)->store(), nullptr);
    EXPECT_TRUE(answer_of(**some, prompt, 12) == want) << "some experts there";
    EXPECT_TRUE(answer_of(**some, prompt, 12) == want) << "some experts there, that have come";
    EXPECT_GT((*some)->tier()->counters().hits, 0u);
  }
}

TEST_F(ModelsOnDeviceTest, SequencesOfABatchAnswerAsAlone) {
  constexpr size_t kSequences = 24;  // more than the kernels take in one tile, or one by one
  const auto model = load_there("models/demo", {"context.max_tokens=32"});
  ASSERT_TRUE(model.ok()) << model.status().text();
  const auto vocabulary = static_cast<size_t>((*model)->spec().vocabulary);
  auto batch = (*model)->create_batch();
  ASSERT_TRUE(batch.ok()) << batch.status().text();
  std::vector<std::vector<int32_t>> prompts(kSequences);
  std::vector<std::unique_ptr<engine::Context>> contexts;
  std::vector<engine::Chunk> chunks;
  std::vector<float> alone(kSequences * vocabulary), together(alone.size());
  for (size_t i = 0; i < kSequences; ++i) {
    for (size_t k = 0; k < 1 + i % 3; ++k) {
      prompts[i].push_back(static_cast<int32_t>((31 * i + 7 * k) % vocabulary));
    }
    auto context = (*model)->create_context(32, *batch);
    ASSERT_TRUE(context.ok()) << context.status().text();
    const Status status =
        (*context)->forward(prompts[i], engine::LogitsOf::kLast, &alone[i * vocabulary]);
    ASSERT_TRUE(status.ok()) << status.text();
    (*context)->reset();
    contexts.push_back(std::move(*context));
    chunks.push_back({contexts.back().get(), prompts[i], engine::LogitsOf::kLast});
  }
  const Status status = (*batch)->forward(chunks, together.data());
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(together, alone);
}

}  // namespace
}  // namespace colibri::test
