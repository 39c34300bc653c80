// SPDX-License-Identifier: Apache-2.0
// colibri inspect as a person runs it: on a model that can be run, on one that cannot, and on one
// that cannot even be opened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/base/temporary_folder.h"
#include "tests/bad_models/tiny_model.h"

namespace colibri::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Inspect : public ::testing::Test {
 protected:
  // Runs colibri inspect on the model; both streams go to text_.
  int run(const TinyModel& model, const std::string& arguments) {
    model.write(folder_);
    const std::string line =
        "'" COLIBRI_PROGRAM "' inspect " + arguments + " '" + folder_.string() + "' 2>&1";
    FILE* pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return -1;
    std::array<char, 4096> buffer;
    for (size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      text_.append(buffer.data(), n);
    }
    const int status = ::pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  std::string text_;
};

TEST_F(Inspect, TellsWhatAModelIs) {
  TinyModel model;
  replace(&model.config, "\"rope_theta\"", "\"torch_dtype\": \"float32\", \"rope_theta\"");
  ASSERT_EQ(run(model, "--json"), 0) << text_;
  const auto json = nlohmann::json::parse(text_, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text_;
  EXPECT_EQ(json["format"], "safetensors");
  EXPECT_EQ(json["architecture"], "mixtral");
  EXPECT_EQ(json["hyperparameters"]["head_dim"], 4);
  EXPECT_EQ(json["hyperparameters"]["eos"], nlohmann::json({2, 3}));
  EXPECT_TRUE(json["tokenizer"].is_null());
  EXPECT_EQ(json["parameters"], 4256 / 4);
  EXPECT_EQ(json["active_parameters"], 4256 / 4 - 3 * 8 * 12);
  EXPECT_EQ(json["unknown_keys"], nlohmann::json({"torch_dtype"}));
  EXPECT_TRUE(json["problems"].empty());
  int64_t bytes = 0, tensors = 0;
  for (const auto& group : json["tensors"]) {
    bytes += group["bytes"].get<int64_t>();
    tensors += group["count"].get<int64_t>();
    if (group["role"] != "gate") continue;
    EXPECT_EQ(group["name"], "model.layers.*.block_sparse_moe.experts.*.w1.weight");
    EXPECT_EQ(group["shape"], nlohmann::json({12, 8}));
    EXPECT_EQ(group["count"], 2);
    EXPECT_EQ(group["codec"], "f32");
  }
  EXPECT_EQ(bytes, 4256);
  EXPECT_EQ(tensors, 16);
}

TEST_F(Inspect, PrintsForPeople) {
  ASSERT_EQ(run(TinyModel(), ""), 0) << text_;
  EXPECT_THAT(text_, HasSubstr("attention      2 heads of width 4, 1 key-value heads"));
  EXPECT_THAT(text_, HasSubstr("'lm_head.weight' = head\n      1 x f32 [16,8], 512 B\n"));
}

TEST_F(Inspect, TellsWhatAModelLacks) {
  TinyModel model;
  replace(&model.header, "lm_head", "lm_tail");
  ASSERT_EQ(run(model, ""), 0) << text_;
  EXPECT_THAT(text_, HasSubstr("it cannot be run\n"));
  EXPECT_THAT(text_, HasSubstr("there is no tensor 'lm_head.weight'"));
  EXPECT_THAT(text_, HasSubstr("1 tensor is not used by the architecture mixtral: "
                               "'lm_tail.weight'"));
}

TEST_F(Inspect, RefusesWhatIsNoModel) {
  TinyModel model;
  model.weights = "";
  EXPECT_EQ(run(model, "--json"), 2);
  EXPECT_THAT(text_, HasSubstr("model.safetensors: has 0 bytes"));
}

}  // namespace
}  // namespace colibri::testing
