// SPDX-License-Identifier: Apache-2.0
// GGUF files in every codec, against float32 arithmetic on the numbers that are stored, and against
// llama.cpp on the same file (tools/goldens/make_gguf.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/engine/golden.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

// What two orders of the same float32 sums may differ by, of the largest |logit|.
constexpr double kRounding = 1e-5;
// q8_0 and q4_0 round activations to 8 bits as llama.cpp does, so the errors are as large as its own
// and differ by chance: over all files their ratio is 1.00.
constexpr double kChance = 1.1;

struct Golden {
  std::vector<int32_t> ids;
  std::vector<int32_t> llama_argmax;  // of each position
  std::vector<double> llama_gap;      // between its first and second logit
  double llama_max_error = 0, llama_rms_error = 0;
  GoldenLogits logits;  // exact, of every position
};

Golden read_gguf_golden(const std::filesystem::path& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file);
  return {json.at("ids"),
          json.at("llama_argmax"),
          json.at("llama_gap"),
          json.at("llama_max_error"),
          json.at("llama_rms_error"),
          golden_logits(json.at("logits"))};
}

class GgufGolden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(GgufGolden, IsAsExactAsLlamaCppAndGivesItsIds) {
  const Golden golden =
      read_gguf_golden(std::filesystem::path(GetParam()).replace_extension("json"));
  auto model = load_model(GetParam(), {"context.kv=f32"});
  ASSERT_TRUE(model.ok()) << model.status().text();
  const auto vocabulary = static_cast<size_t>((*model)->spec().vocabulary);
  auto context = (*model)->create_context(static_cast<int64_t>(golden.ids.size()));
  ASSERT_TRUE(context.ok()) << context.status().text();
  std::vector<float> logits(vocabulary * golden.ids.size());
  const Status status = (*context)->forward(golden.ids, engine::LogitsOf::kAll, logits.data());
  ASSERT_TRUE(status.ok()) << status.text();
  ASSERT_EQ(logits.size(), golden.logits.data.size());

  double worst = 0, squares = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double error = std::fabs(static_cast<double>(logits[i]) - golden.logits.data[i]);
    worst = std::max(worst, error);
    squares += error * error;
  }
  const double rms = std::sqrt(squares / static_cast<double>(logits.size()));
  const double rounding = kRounding * golden.logits.max_abs;
  EXPECT_LE(worst, std::max(golden.llama_max_error * kChance, rounding));
  EXPECT_LE(rms, std::max(golden.llama_rms_error * kChance, rounding));
  // Every other codec is computed with as the numbers it stands for.
  const bool rounds_activations = (*model)->spec().layers[0].o.codec() == COLIBRI_CODEC_Q8_0 ||
                                  (*model)->spec().layers[0].o.codec() == COLIBRI_CODEC_Q4_0;
  if (!rounds_activations) {
    EXPECT_LE(worst, rounding);
  }
  RecordProperty("rms_of_llama", std::to_string(rms / golden.llama_rms_error));
  RecordProperty("worst_of_llama", std::to_string(worst / golden.llama_max_error));

  size_t clear = 0;  // positions where llama.cpp's first logit is no near tie
  for (size_t i = 0; i < golden.ids.size(); ++i) {
    if (golden.llama_gap[i] <= 2 * golden.llama_max_error) continue;
    ++clear;
    EXPECT_EQ(argmax(logits.data() + i * vocabulary, vocabulary), golden.llama_argmax[i])
        << "position " << i;
  }
  EXPECT_GE(clear * 2, golden.ids.size());
}

std::vector<std::filesystem::path> gguf_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".gguf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// COLIBRI_GGUF_GOLDENS: another folder, for the files that are not committed.
std::filesystem::path golden_folder() {
  const char* other = std::getenv("COLIBRI_GGUF_GOLDENS");
  return other == nullptr ? "tests/golden/gguf" : other;
}

INSTANTIATE_TEST_SUITE_P(Files, GgufGolden, testing::ValuesIn(gguf_files(golden_folder())),
                         [](const auto& test) {
                           std::string name = test.param.stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace colibri::test
