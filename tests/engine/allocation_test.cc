// SPDX-License-Identifier: Apache-2.0
// After warm-up, decoding allocates nothing: sampling, detokenising and stop strings included.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "runtime/base/temporary_folder.h"
#include "runtime/convert/convert.h"
#include "runtime/engine/generator.h"
#include "tests/engine/loaded_model.h"
#include "tests/engine/replaced_malloc.h"

namespace colibri::test {
namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;

}  // namespace

bool allocation_fails() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
  return false;
}

namespace {

constexpr uint32_t kWarmUp = 16;
constexpr uint32_t kDecoded = 256;
constexpr uint32_t kShortDecoded = 64;  // of the golden checkpoints

void expect_no_allocation(const std::string& path, const std::vector<std::string>& settings,
                          const std::filesystem::path& route_trace = {}) {
  auto model = load_model(path, settings);
  ASSERT_TRUE(model.ok()) << model.status().text();
  if (!route_trace.empty()) {
    ASSERT_TRUE((*model)->record_routes(route_trace).ok());
  }
  auto context = (*model)->create_context((*model)->plan().max_tokens);
  ASSERT_TRUE(context.ok()) << context.status().text();
  auto sampler = (*model)->create_sampler();
  ASSERT_TRUE(sampler.ok()) << sampler.status().text();
  // No id ends the text, and the stop strings are looked for but not found.
  std::vector<std::string> stop;
  if ((*model)->tokenizer() != nullptr) stop = {"\x01never\x02", "neither \xE4\xB8\xAD"};
  engine::Generator generator(**context, *sampler, (*model)->tokenizer(), {}, stop);
  const std::vector<int32_t> prompt = {1, 17, 33, 60, 25, 40};
  engine::GenerateResult result;
  uint32_t seen = 0;
  size_t bytes = 0;
  allocations = 0;
  const uint32_t decoded = (*model)->tokenizer() == nullptr ? kShortDecoded : kDecoded;
  const Status status = generator.run(
      prompt, {kWarmUp + decoded, 7}, {},
      [&](int32_t, std::string_view text) {
        bytes += text.size();
        if (++seen == kWarmUp) counting = true;
        if (seen == kWarmUp + decoded) counting = false;
        return true;
      },
      &result);
  counting = false;
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(seen, kWarmUp + decoded);
  EXPECT_EQ(bytes > 0, (*model)->tokenizer() != nullptr);
  EXPECT_EQ(allocations.load(), 0);
}

TEST(Allocation, TheCounterCounts) {
  allocations = 0;
  counting = true;
  int* volatile kept = new int(1);
  delete kept;
  counting = false;
  EXPECT_GT(allocations.load(), 0);
}

TEST(Allocation, GreedyDecodingAllocatesNothing) {
  expect_no_allocation("models/demo", {"threads.count=2"});
}

TEST(Allocation, NorDoesSampling) {
  expect_no_allocation(
      "models/demo",
      {"sampling=[{plugin: repetition_penalty, options: {penalty: 1.1}}, {plugin: top_k, options: "
       "{k: 40}}, {plugin: top_p, options: {p: 0.95}}, {plugin: min_p, options: {p: 0.01}}, "
       "{plugin: temperature, options: {value: 0.8}}]"});
}

TEST(Allocation, NorDoReadsOfExpertsFromDisk) {
  expect_no_allocation("models/demo", {"experts.budget=20%", "threads.count=2"});
  expect_no_allocation("models/demo",
                       {"experts.budget=40%", "experts.prefetch=idle", "threads.count=2"});
}

// Every part of the forward pass: dense and shared ffns, biases, sinks, norms of queries and keys,
// latent attention with and without a latent of the query, float and integer products.
TEST(Allocation, NorDoesAnyFamily) {
  for (const char* name : {"deepseek_v2_lite_bf16", "deepseek_v3_bf16", "gpt_oss_bf16",
                           "invented_f32", "llama_bias_f32", "qwen2_moe_step_f32"}) {
    SCOPED_TRACE(name);
    const std::string path = std::string("tests/golden/models/") + name;
    expect_no_allocation(path, {"threads.count=2", "experts.budget=60%"});
  }
  expect_no_allocation("tests/golden/models/deepseek_v3_bf16",
                       {"threads.count=2", "model.quantize=q8_0"});
}

TEST(Allocation, NorDoReadsOfBundlesWhateverReadsThem) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "demo.colibri";
  const auto plan = make_plan("models/demo", {});
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  ASSERT_TRUE(convert::convert(**plan, file, [](uint64_t, uint64_t) {}).ok());
  for (const char* engine : {"experts.io.engine=auto", "experts.io.engine=pread"}) {
    expect_no_allocation(
        file, {"experts.budget=40%", "experts.prefetch=idle", "threads.count=2", engine});
  }
}

TEST(Allocation, NorDoesRecordingRoutesNorAnyCachePolicy) {
  const TemporaryFolder folder;
  for (const char* policy : {"lru", "lfu", "s3fifo", "arc"}) {
    expect_no_allocation(
        "models/demo",
        {"experts.budget=40%", std::string("experts.policy.plugin=") + policy, "threads.count=2"},
        folder.path() / "trace");
  }
}

}  // namespace
}  // namespace colibri::test
