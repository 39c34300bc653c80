// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/golden.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace colibri::test {
namespace {

std::vector<float> floats_of_base64(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) throw std::runtime_error("not base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

GoldenLogits golden_logits(const nlohmann::json& json) {
  return {json.at("first_position"), json.at("rows"), json.at("max_abs"),
          floats_of_base64(json.at("data"))};
}

std::vector<GoldenCase> read_golden(const std::filesystem::path& reference) {
  std::ifstream file(reference);
  const auto json = nlohmann::json::parse(file);
  std::vector<GoldenCase> cases;
  for (const auto& entry : json.at("cases")) {
    GoldenCase made;
    made.prompt = entry.at("prompt").get<std::vector<int32_t>>();
    made.text = entry.value("text", "");
    made.logits = golden_logits(entry.at("logits"));
    made.greedy = entry.at("greedy").get<std::vector<int32_t>>();
    made.greedy_text = entry.value("greedy_text", "");
    made.final_logits = golden_logits(entry.at("final_logits"));
    cases.push_back(std::move(made));
  }
  return cases;
}

std::vector<std::filesystem::path> golden_models(const std::filesystem::path& golden) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(golden / "models")) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace colibri::test
