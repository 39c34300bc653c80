// SPDX-License-Identifier: Apache-2.0
// GGUF files in every codec, against float32 arithmetic on the numbers that are stored, and against
// llama.cpp on the same file (tools/goldens/make_gguf.py). Positions whose logits depend on a near
// tie of the router in exact arithmetic are left out, for both: rounding may turn such a choice over.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/codec_facts.h"
#include "tests/engine/golden.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

// What two orders of the same float32 sums may differ by, of the largest |logit|.
constexpr double kRounding = 1e-5;
// Quantised weights meet activations that are rounded to 8 bits, here as in llama.cpp. For blocks of
// 32 weights the rounding is the same, so our errors are as large as its, on one file more or less
// by chance. With the types of 256 weights it has one scale for 256 activations, we have eight: our
// errors are 0.68 of its. docs/numerics.md has the ratios over many files.
constexpr double kRms = 1.15, kMax = 1.5, kMean = 1.02;
constexpr double kRmsOfWide = 0.75, kMaxOfWide = 1.0, kMeanOfWide = 0.7;

struct Golden {
  std::vector<int32_t> ids;
  std::vector<int32_t> llama_argmax;  // of each position
  std::vector<double> llama_gap;      // between its first and second logit
  std::set<size_t> near_tie;          // positions that are not compared
  double llama_max_error = 0, llama_rms_error = 0;
  GoldenLogits logits;  // exact, of every position

  size_t vocabulary() const { return logits.data.size() / ids.size(); }
};

Golden read_gguf_golden(const std::filesystem::path& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file);
  return {json.at("ids"),
          json.at("llama_argmax"),
          json.at("llama_gap"),
          json.at("near_tie"),
          json.at("llama_max_error"),
          json.at("llama_rms_error"),
          golden_logits(json.at("logits"))};
}

// What Colibri computes for a file, and how far it is from the exact logits.
struct Measured {
  std::vector<float> logits;
  double max_error = 0, rms_error = 0;
  bool rounds_activations = false;
  bool wide = false;  // all of the rounding is that of blocks of 256
};

bool all_wide(const model::ModelSpec& spec) {
  for (const model::LayerSpec& layer : spec.layers) {
    auto weights = layer.weights();
    if (layer.routed()) {
      for (const model::Weight* weight : layer.experts[0].weights()) weights.push_back(weight);
    }
    for (const model::Weight* weight : weights) {
      if (!*weight || !has_integer_product(weight->codec())) continue;
      if (codec_facts(weight->codec())->elements != 256) return false;
    }
  }
  return true;
}

Result<Measured> measure(const std::filesystem::path& path, const Golden& golden) {
  COLIBRI_ASSIGN(const auto model, load_model(path, {"context.kv=f32"}));
  COLIBRI_ASSIGN(const auto context,
                 model->create_context(static_cast<int64_t>(golden.ids.size())));
  Measured made;
  made.logits.resize(static_cast<size_t>(model->spec().vocabulary) * golden.ids.size());
  COLIBRI_TRY(context->forward(golden.ids, engine::LogitsOf::kAll, made.logits.data()));
  double squares = 0, count = 0;
  for (size_t i = 0; i < made.logits.size(); ++i) {
    if (golden.near_tie.count(i / golden.vocabulary()) > 0) continue;
    const double error = std::fabs(static_cast<double>(made.logits[i]) - golden.logits.data[i]);
    made.max_error = std::max(made.max_error, error);
    squares += error * error;
    ++count;
  }
  made.rms_error = std::sqrt(squares / count);
  made.rounds_activations = rounds_activations(model->spec());
  made.wide = all_wide(model->spec());
  return made;
}

std::filesystem::path json_of(std::filesystem::path path) {
  return path.replace_extension("json");
}

class GgufGolden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(GgufGolden, IsAsExactAsLlamaCppAndGivesItsIds) {
  const Golden golden = read_gguf_golden(json_of(GetParam()));
  const auto measured = measure(GetParam(), golden);
  ASSERT_TRUE(measured.ok()) << measured.status().text();
  ASSERT_EQ(measured->logits.size(), golden.logits.data.size());
  const double rounding = kRounding * golden.logits.max_abs;
  if (measured->rounds_activations) {
    EXPECT_LE(measured->max_error, golden.llama_max_error * (measured->wide ? kMaxOfWide : kMax));
    EXPECT_LE(measured->rms_error, golden.llama_rms_error * (measured->wide ? kRmsOfWide : kRms));
  } else {  // computed with as the numbers it stands for
    EXPECT_LE(measured->max_error, rounding);
  }

  EXPECT_LE(golden.near_tie.size() * 4, golden.ids.size());
  const size_t vocabulary = golden.vocabulary();
  size_t clear = 0;  // positions where llama.cpp's first logit is no near tie
  for (size_t i = 0; i < golden.ids.size(); ++i) {
    if (golden.llama_gap[i] <= 2 * golden.llama_max_error || golden.near_tie.count(i) > 0) continue;
    ++clear;
    EXPECT_EQ(argmax(measured->logits.data() + i * vocabulary, vocabulary), golden.llama_argmax[i])
        << "position " << i;
  }
  EXPECT_GE(clear * 4, golden.ids.size());
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

TEST(GgufGoldens, OverAllFilesErrorsAreNoLargerThanThoseOfLlamaCpp) {
  double sum[2] = {};  // of logarithms; narrow, wide
  int files[2] = {};
  for (const std::filesystem::path& path : gguf_files(golden_folder())) {
    const Golden golden = read_gguf_golden(json_of(path));
    const auto measured = measure(path, golden);
    ASSERT_TRUE(measured.ok()) << measured.status().text();
    if (!measured->rounds_activations) continue;
    const double ratio = measured->rms_error / golden.llama_rms_error;
    RecordProperty(path.stem().string(), std::to_string(ratio));
    sum[measured->wide] += std::log(ratio);
    ++files[measured->wide];
  }
  ASSERT_GE(files[0], 20);
  EXPECT_LE(std::exp(sum[0] / files[0]), kMean);
  ASSERT_GE(files[1], 6);
  EXPECT_LE(std::exp(sum[1] / files[1]), kMeanOfWide);
}

}  // namespace
}  // namespace colibri::test
