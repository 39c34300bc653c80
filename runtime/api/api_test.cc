// SPDX-License-Identifier: Apache-2.0
// colibri.h as a C program meets it, through libcolibri.so.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "colibri/colibri.h"
#include "colibri/sampler.h"

namespace {

constexpr const char* kText = "tests/golden/models/text_bf16";

colibri_error cleared() {
  colibri_error error = {};
  error.struct_size = sizeof(error);
  return error;
}

colibri_model* load(const char* path, std::vector<const char*> set = {}) {
  colibri_model_params params = {sizeof(params), set.data(), static_cast<uint32_t>(set.size())};
  colibri_error error = cleared();
  colibri_model* model = nullptr;
  EXPECT_EQ(colibri_load_model(path, &params, &model, &error), COLIBRI_OK) << error.text;
  return model;
}

colibri_context* context_of(colibri_model* model) {
  colibri_error error = cleared();
  colibri_context* context = nullptr;
  EXPECT_EQ(colibri_init_context(model, 0, &context, &error), COLIBRI_OK) << error.text;
  return context;
}

class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    model_ = load(kText);
    ASSERT_NE(model_, nullptr);
    context_ = context_of(model_);
    ASSERT_NE(context_, nullptr);
  }
  void TearDown() override {
    colibri_free_context(context_);
    colibri_free_model(model_);
  }
  std::vector<float> infer(colibri_context* context, const std::vector<int32_t>& ids,
                           const colibri_run_params* params = nullptr) {
    std::vector<float> logits(colibri_vocabulary(model_));
    colibri_error error = cleared();
    EXPECT_EQ(colibri_run_inference(context, ids.data(), ids.size(), logits.data(), params, &error),
              COLIBRI_OK)
        << error.text;
    return logits;
  }

  colibri_model* model_ = nullptr;
  colibri_context* context_ = nullptr;
  colibri_error error_ = cleared();
};

TEST_F(ApiTest, ForwardGivesTheLogitsOfEveryPosition) {
  const std::vector<int32_t> ids = {1, 20, 300};
  const size_t vocabulary = colibri_vocabulary(model_);
  std::vector<float> all(ids.size() * vocabulary);
  ASSERT_EQ(colibri_forward(context_, ids.data(), ids.size(), all.data(), nullptr, &error_),
            COLIBRI_OK)
      << error_.text;
  EXPECT_EQ(colibri_context_tokens(context_), 3u);
  for (size_t n = 1; n <= ids.size(); ++n) {
    const std::vector<float> last = infer(context_, {ids.begin(), ids.begin() + n});
    EXPECT_EQ(0, std::memcmp(last.data(), &all[(n - 1) * vocabulary], vocabulary * sizeof(float)));
  }
  colibri_reset_context(context_);
  EXPECT_EQ(colibri_context_tokens(context_), 0u);
}

TEST_F(ApiTest, ThreadsDoNotChangeTheAnswerAndContextsAreIndependent) {
  const std::vector<int32_t> a = {1, 2, 3, 4, 5}, b = {500, 400};
  const std::vector<float> want_a = infer(context_, a), want_b = infer(context_, b);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      colibri_context* context = context_of(model_);
      colibri_run_params params = {sizeof(params), 1 + i % 2, 0, nullptr};
      EXPECT_EQ(infer(context, i % 2 == 0 ? a : b, &params), i % 2 == 0 ? want_a : want_b);
      colibri_free_context(context);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct Seen {
  std::string text;
  std::vector<int32_t> ids;
  size_t stop_after = SIZE_MAX;
};

int remember(void* user, int32_t id, colibri_str text) {
  auto* seen = static_cast<Seen*>(user);
  seen->ids.push_back(id);
  seen->text.append(text.data, text.size);
  return seen->ids.size() >= seen->stop_after ? 1 : 0;
}

TEST_F(ApiTest, GenerateCallsBackForEveryTokenAndSaysWhyItEnded) {
  const char* prompt = "The fan";
  std::vector<int32_t> ids(64);
  size_t n = 0;
  ASSERT_EQ(colibri_tokenize(model_, {prompt, strlen(prompt)}, COLIBRI_TOKENIZE_ADD_SPECIAL,
                             ids.data(), ids.size(), &n, &error_),
            COLIBRI_OK)
      << error_.text;
  Seen seen;
  seen.stop_after = 7;
  colibri_generate_result result = {};
  result.struct_size = sizeof(result);
  ASSERT_EQ(colibri_generate(context_, ids.data(), n, nullptr, remember, &seen, &result, &error_),
            COLIBRI_OK)
      << error_.text;
  EXPECT_EQ(result.stop_reason, static_cast<uint32_t>(COLIBRI_STOP_CALLBACK));
  EXPECT_EQ(result.generated_tokens, 7u);
  EXPECT_EQ(result.prompt_tokens, n);
  char text[512];
  size_t bytes = 0;
  ASSERT_EQ(colibri_detokenize(model_, seen.ids.data(), seen.ids.size(), 0, text, sizeof(text),
                               &bytes, &error_),
            COLIBRI_OK);
  EXPECT_EQ(std::string(text, bytes).rfind(seen.text, 0), 0u);
}

TEST_F(ApiTest, DeadlineAndCancelEndACall) {
  const std::vector<int32_t> ids(100, 5);
  std::vector<float> logits(colibri_vocabulary(model_));
  colibri_run_params params = {sizeof(params), 0, 1e-9, nullptr};
  EXPECT_EQ(
      colibri_run_inference(context_, ids.data(), ids.size(), logits.data(), &params, &error_),
      COLIBRI_CANCELLED);
  EXPECT_STREQ(error_.text, "the deadline of the call passed");
  const volatile int cancel = 1;
  params = {sizeof(params), 0, 0, &cancel};
  EXPECT_EQ(
      colibri_run_inference(context_, ids.data(), ids.size(), logits.data(), &params, &error_),
      COLIBRI_CANCELLED);
  params = {sizeof(params), 0, -1, nullptr};
  EXPECT_EQ(
      colibri_run_inference(context_, ids.data(), ids.size(), logits.data(), &params, &error_),
      COLIBRI_INVALID_ARGUMENT);
  infer(context_, ids);
}

TEST_F(ApiTest, AFailedCallSaysWhyAndNeverCrashes) {
  colibri_model* model = nullptr;
  EXPECT_NE(colibri_load_model("no/such/model", nullptr, &model, &error_), COLIBRI_OK);
  EXPECT_NE(std::string(error_.text).find("no/such/model"), std::string::npos);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(colibri_load_model(nullptr, nullptr, &model, &error_), COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(colibri_load_model(kText, nullptr, nullptr, nullptr), COLIBRI_INVALID_ARGUMENT);

  const int32_t id = 1, wrong = 600;
  std::vector<float> logits(colibri_vocabulary(model_));
  EXPECT_EQ(colibri_run_inference(nullptr, &id, 1, logits.data(), nullptr, &error_),
            COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(colibri_run_inference(context_, &id, 1, nullptr, nullptr, &error_),
            COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(colibri_run_inference(context_, nullptr, 0, logits.data(), nullptr, &error_),
            COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(colibri_run_inference(context_, &wrong, 1, logits.data(), nullptr, &error_),
            COLIBRI_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.text, "id 600 at index 0 is outside the vocabulary of 600");

  colibri_context* context = nullptr;
  EXPECT_EQ(colibri_init_context(model_, 1u << 30, &context, &error_), COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(context, nullptr);
  colibri_free_context(nullptr);
  colibri_free_model(nullptr);
}

TEST_F(ApiTest, TextThatIsNotUtf8IsRefusedAndSmallBuffersAreToldTheSize) {
  size_t n = 0;
  EXPECT_EQ(colibri_tokenize(model_, {"a\xff", 2}, 0, nullptr, 0, &n, &error_),
            COLIBRI_INVALID_ARGUMENT);
  ASSERT_EQ(colibri_tokenize(model_, {"some text", 9}, 0, nullptr, 0, &n, &error_), COLIBRI_OK);
  EXPECT_GT(n, 1u);
  colibri_model* bare = load("tests/golden/models/gqa2_f32");
  EXPECT_EQ(colibri_tokenize(bare, {"x", 1}, 0, nullptr, 0, &n, &error_), COLIBRI_UNSUPPORTED);
  EXPECT_NE(std::string(error_.text).find("no tokenizer"), std::string::npos);
  colibri_free_model(bare);
}

// A sampler that is linked into the program: it keeps only one id.
constexpr int32_t kOnly = 42;
const colibri_sampler_1 kSampler = {
    .struct_size = sizeof(colibri_sampler_1),
    .state_bytes = [](const colibri_host*, uint32_t) { return uint64_t{1}; },
    .create = [](const colibri_host*, uint32_t, void*, colibri_error*) -> colibri_status {
      return COLIBRI_OK;
    },
    .accept = nullptr,
    .apply = [](void*, colibri_candidates* candidates) -> colibri_status {
      for (size_t i = 0; i < candidates->n; ++i) {
        if (candidates->id[i] != kOnly) continue;
        candidates->id[0] = kOnly;
        candidates->logit[0] = candidates->logit[i];
      }
      candidates->n = 1;
      return COLIBRI_OK;
    },
    .reset = nullptr,
};
const colibri_plugin kPlugin = {
    .struct_size = sizeof(colibri_plugin),
    .abi_minor = COLIBRI_ABI_MINOR,
    .id = "only_one",
    .version = "1.0.0",
    .open = nullptr,
    .close = nullptr,
    .get_interface = [](const char* id) -> const void* {
      return std::string(id) == "colibri.sampler/1" ? &kSampler : nullptr;
    },
};

TEST_F(ApiTest, APluginOfTheProgramIsUsedByModelsLoadedLater) {
  const char* manifest =
      R"({"id": "only_one", "version": "1.0.0", "abi": "1.0", "interfaces": ["colibri.sampler/1"]})";
  ASSERT_EQ(colibri_register_plugin(&kPlugin, manifest, &error_), COLIBRI_OK) << error_.text;
  EXPECT_EQ(colibri_register_plugin(&kPlugin, manifest, &error_), COLIBRI_INVALID_ARGUMENT);
  EXPECT_NE(colibri_register_plugin(&kPlugin, "{}", &error_), COLIBRI_OK);
  colibri_model* model = load(kText, {"sampling=[{plugin: only_one}]", "generate.max_tokens=4"});
  colibri_context* context = context_of(model);
  const int32_t id = 1;
  Seen seen;
  EXPECT_EQ(colibri_generate(context, &id, 1, nullptr, remember, &seen, nullptr, &error_),
            COLIBRI_OK)
      << error_.text;
  EXPECT_EQ(seen.ids, std::vector<int32_t>(4, kOnly));
  colibri_free_context(context);
  colibri_free_model(model);
}

}  // namespace
