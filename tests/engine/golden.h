// SPDX-License-Identifier: Apache-2.0
// reference.json of a golden checkpoint (tests/golden/README.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace colibri::test {

struct GoldenLogits {
  int64_t first_position = 0, rows = 0;
  double max_abs = 0;
  std::vector<float> data;  // [rows, vocabulary]
};

struct GoldenCase {
  std::vector<int32_t> prompt;
  std::string text;  // of the prompt; empty if the model has no tokenizer
  GoldenLogits logits;
  std::vector<int32_t> greedy;
  std::string greedy_text;
  GoldenLogits final_logits;
};

GoldenLogits golden_logits(const nlohmann::json& json);
std::vector<GoldenCase> read_golden(const std::filesystem::path& reference);
// The folders of tests/golden/models below the given tests/golden.
std::vector<std::filesystem::path> golden_models(const std::filesystem::path& golden);

}  // namespace colibri::test
