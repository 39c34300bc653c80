// SPDX-License-Identifier: Apache-2.0
// Answers against transformers: logits within 1e-5 of the largest, greedy ids identical. For
// weights in 4 bits its products take activations of 8 bits, as ours do.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/engine/golden.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

constexpr double kTolerance = 1e-5;  // of the largest |logit|

class GoldenTest : public testing::TestWithParam<std::filesystem::path> {};

// Gives the largest difference, relative to the largest |logit|.
double expect_near(const std::vector<float>& got, const GoldenLogits& want,
                   const std::string& what) {
  EXPECT_EQ(got.size(), want.data.size()) << what;
  if (got.size() != want.data.size()) return 0;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(got[i]) - want.data[i]));
  }
  EXPECT_LE(worst, kTolerance * want.max_abs) << what << ": " << worst / want.max_abs;
  return worst / want.max_abs;
}

TEST_P(GoldenTest, LogitsAndGreedyIdsAreThoseOfTransformers) {
  // Weights of 16 bits are exact in f32, so this is float32 arithmetic on the stored weights.
  auto model = load_model(GetParam(), {"context.kv=f32", "context.prefill_chunk=7"});
  ASSERT_TRUE(model.ok()) << model.status().text();
  const auto vocabulary = static_cast<size_t>((*model)->spec().vocabulary);
  auto context = (*model)->create_context((*model)->plan().max_tokens);
  ASSERT_TRUE(context.ok()) << context.status().text();
  const auto cases = read_golden(GetParam() / "reference.json");
  ASSERT_FALSE(cases.empty());
  double worst = 0;
  for (const GoldenCase& golden : cases) {
    const std::string what = "prompt of " + std::to_string(golden.prompt.size());
    engine::Context& c = **context;
    c.reset();
    const bool all = golden.logits.rows > 1;
    std::vector<float> logits(vocabulary * static_cast<size_t>(golden.logits.rows));
    Status status = c.forward(golden.prompt, all ? engine::LogitsOf::kAll : engine::LogitsOf::kLast,
                              logits.data());
    ASSERT_TRUE(status.ok()) << status.text();
    worst = std::max(worst, expect_near(logits, golden.logits, what));

    std::vector<float> last(logits.end() - static_cast<std::ptrdiff_t>(vocabulary), logits.end());
    if (all) {  // without the others the last row is the same
      std::vector<float> alone(vocabulary);
      c.reset();
      status = c.forward(golden.prompt, engine::LogitsOf::kLast, alone.data());
      ASSERT_TRUE(status.ok()) << status.text();
      EXPECT_EQ(alone, last) << what;
    }
    std::vector<int32_t> greedy;
    while (greedy.size() < golden.greedy.size()) {
      greedy.push_back(argmax(last.data(), vocabulary));
      status = c.forward({&greedy.back(), 1}, engine::LogitsOf::kLast, last.data());
      ASSERT_TRUE(status.ok()) << status.text();
    }
    EXPECT_EQ(greedy, golden.greedy) << what;
    worst = std::max(worst, expect_near(last, golden.final_logits, what + ", after 64 more"));
  }
  RecordProperty("largest_relative_difference", std::to_string(worst * 1e6) + "e-6");
}

TEST_P(GoldenTest, TextIsThatOfTheTokenizer) {
  auto model = load_model(GetParam(), {});
  ASSERT_TRUE(model.ok()) << model.status().text();
  const engine::Tokenizer* tokenizer = (*model)->tokenizer();
  for (const GoldenCase& golden : read_golden(GetParam() / "reference.json")) {
    if (golden.text.empty()) continue;
    ASSERT_NE(tokenizer, nullptr);
    const auto ids =
        tokenizer->encode(golden.text, COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL);
    ASSERT_TRUE(ids.ok()) << ids.status().text();
    EXPECT_EQ(*ids, golden.prompt);
    const auto text = tokenizer->decode(golden.greedy.data(), golden.greedy.size(), true);
    ASSERT_TRUE(text.ok()) << text.status().text();
    EXPECT_EQ(*text, golden.greedy_text);
  }
}

std::string name_of(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.filename().string();
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest, testing::ValuesIn(golden_models("tests/golden")),
                         name_of);

TEST(DemoGolden, LogitsAndGreedyIdsAreThoseOfTransformers) {
  auto model = load_model("models/demo", {"context.kv=f32"});
  ASSERT_TRUE(model.ok()) << model.status().text();
  auto context = (*model)->create_context((*model)->plan().max_tokens);
  ASSERT_TRUE(context.ok()) << context.status().text();
  std::ifstream file("tests/golden/demo/transformers.json");
  const auto golden = nlohmann::json::parse(file);
  ASSERT_GE(golden.at("cases").size(), 4u);
  for (const auto& one : golden.at("cases")) {
    const auto prompt = one.at("prompt_ids").get<std::vector<int32_t>>();
    const auto ids =
        (*model)->tokenizer()->encode(one.at("prompt").get<std::string>(),
                                      COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL);
    ASSERT_TRUE(ids.ok()) << ids.status().text();
    EXPECT_EQ(*ids, prompt);
    GoldenLogits want;
    want.data = one.at("last_logits").get<std::vector<float>>();
    for (const float value : want.data)
      want.max_abs = std::max<double>(want.max_abs, std::fabs(value));
    std::vector<float> logits(want.data.size());
    (*context)->reset();
    Status status = (*context)->forward(prompt, engine::LogitsOf::kLast, logits.data());
    ASSERT_TRUE(status.ok()) << status.text();
    expect_near(logits, want, "demo");
    std::vector<int32_t> greedy;
    const auto want_ids = one.at("greedy_ids").get<std::vector<int32_t>>();
    while (greedy.size() < want_ids.size()) {
      greedy.push_back(argmax(logits.data(), logits.size()));
      status = (*context)->forward({&greedy.back(), 1}, engine::LogitsOf::kLast, logits.data());
      ASSERT_TRUE(status.ok()) << status.text();
    }
    EXPECT_EQ(greedy, want_ids);
  }
}

}  // namespace
}  // namespace colibri::test
