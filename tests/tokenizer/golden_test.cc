// SPDX-License-Identifier: Apache-2.0
// The answers of the reference tokenizers (tests/golden/README.md) against those of the plugin that
// this program is linked with, for every folder that has COLIBRI_GOLDEN_FILE.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tokenizer/plugin_tokenizer.h"

namespace colibri {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ids = std::vector<int32_t>;
using testing::PluginTokenizer;

const fs::path kFolder = "tests/golden/tokenizers";
constexpr char kFile[] = COLIBRI_GOLDEN_FILE;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> tokenizers() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (fs::exists(entry.path() / kFile)) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string fnv1a64(std::string_view bytes) {
  uint64_t value = 14695981039346656037u;
  for (const char c : bytes) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char text[17];
  std::snprintf(text, sizeof(text), "%016" PRIx64, value);
  return text;
}

std::string hash_ids(const Ids& ids) {
  std::string bytes;
  for (const int32_t id : ids) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(id >> shift);
  }
  return fnv1a64(bytes);
}

std::string text_of_rule(const json& rule) {
  static const json fragments = json::parse(contents(kFolder / "fragments.json"));
  const auto pieces = fragments[rule["fragments"]].get<std::vector<std::string>>();
  uint64_t state = rule["seed"];
  std::string text;
  while (text.size() < rule["min_bytes"].get<size_t>()) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    text += pieces[(state >> 33) % pieces.size()];
  }
  return text;
}

class Golden : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string file = contents(kFolder / GetParam() / kFile);
    auto made =
        PluginTokenizer::create(colibri_plugin_v1(), std::vector<testing::Resource>{{kFile, file}});
    ASSERT_TRUE(made.ok()) << made.status().text();
    tokenizer_ = std::make_unique<PluginTokenizer>(std::move(*made));
  }

  Ids encode(const std::string& text, bool special) const {
    auto ids = tokenizer_->encode(
        text, COLIBRI_ENCODE_PARSE_SPECIAL | (special ? COLIBRI_ENCODE_ADD_SPECIAL : 0));
    EXPECT_TRUE(ids.ok()) << ids.status().text();
    return ids.ok() ? *ids : Ids();
  }

  void check_text(const json& c) const {
    const std::string text = c["text"];
    const Ids ids = c["ids"];
    const Ids ids_special = c.value("ids_special", ids);
    EXPECT_EQ(encode(text, false), ids);
    EXPECT_EQ(encode(text, true), ids_special);
    EXPECT_EQ(tokenizer_->decode(ids_special, false), c.value("decoded", text));
    EXPECT_EQ(tokenizer_->decode(ids_special, true), c.value("decoded_skip", text));
  }

  void check_ids(const json& c) const {
    const Ids ids = c["ids"];
    EXPECT_EQ(tokenizer_->decode(ids, false), c["decoded"].get<std::string>());
    EXPECT_EQ(tokenizer_->decode(ids, true), c["decoded_skip"].get<std::string>());
  }

  void check_rule(const json& c) const {
    const std::string text = text_of_rule(c["rule"]);
    ASSERT_EQ(fnv1a64(text), c["text_hash"].get<std::string>()) << "the rule is read wrongly";
    const Ids ids = encode(text, false);
    EXPECT_EQ(ids.size(), c["count"].get<size_t>());
    EXPECT_EQ(hash_ids(ids), c["ids_hash"].get<std::string>());
    EXPECT_EQ(fnv1a64(tokenizer_->decode(ids, false)), c["decoded_hash"].get<std::string>());
  }

  std::unique_ptr<PluginTokenizer> tokenizer_;
};

TEST_P(Golden, AnswersLikeTheReference) {
  std::ifstream file(kFolder / GetParam() / "cases.jsonl");
  std::map<std::string, int> groups;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    SCOPED_TRACE(GetParam() + "/cases.jsonl:" + std::to_string(++number));
    const json c = json::parse(line);
    const std::string group = c["group"];
    ++groups[group];
    if (group == "long") {
      check_rule(c);
    } else if (group == "decode") {
      check_ids(c);
    } else {
      check_text(c);
    }
    if (::testing::Test::HasFailure()) return;  // one case tells more than thousands
  }
  EXPECT_GE(groups["long"], 1);
  EXPECT_GE(number, 100);
}

INSTANTIATE_TEST_SUITE_P(All, Golden, ::testing::ValuesIn(tokenizers()),
                         [](const auto& tokenizer) { return tokenizer.param; });

TEST(GoldenCases, AreAtLeast9000OfAllKinds) {
  std::map<std::string, int> groups;
  int total = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    std::ifstream file(entry.path() / "cases.jsonl");
    for (std::string line; std::getline(file, line); ++total) ++groups[json::parse(line)["group"]];
  }
  EXPECT_GE(total, 9000);
  for (const char* group :
       {"code", "cjk", "emoji", "marks", "space", "control", "added", "random", "decode", "long"}) {
    EXPECT_GT(groups[group], 0) << group;
  }
}

}  // namespace
}  // namespace colibri
