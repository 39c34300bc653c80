// SPDX-License-Identifier: Apache-2.0
// After warm-up, decoding allocates nothing: sampling, detokenising and stop strings included.
//
// malloc and its kin are replaced for the whole process, plugins included, and counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "runtime/engine/generator.h"
#include "tests/engine/loaded_model.h"

namespace {
std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;

void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
}
}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) {
  count();
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  count();
  return __libc_calloc(n, size);
}
void* realloc(void* old, size_t n) {
  count();
  return __libc_realloc(old, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  count();
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** to, size_t alignment, size_t n) {
  count();
  *to = __libc_memalign(alignment, n);
  return *to == nullptr ? ENOMEM : 0;
}
}

namespace colibri::test {
namespace {

constexpr uint32_t kWarmUp = 16;
constexpr uint32_t kDecoded = 256;

void expect_no_allocation(const std::vector<std::string>& settings) {
  auto model = load_model("models/demo", settings);
  ASSERT_TRUE(model.ok()) << model.status().text();
  auto context = (*model)->create_context((*model)->plan().max_tokens);
  ASSERT_TRUE(context.ok()) << context.status().text();
  auto sampler = (*model)->create_sampler();
  ASSERT_TRUE(sampler.ok()) << sampler.status().text();
  // No id ends the text, and the stop strings are looked for but not found.
  engine::Generator generator(**context, *sampler, (*model)->tokenizer(), {},
                              {"\x01never\x02", "neither \xE4\xB8\xAD"});
  const std::vector<int32_t> prompt = {1, 17, 33, 100, 250, 400};
  engine::GenerateResult result;
  uint32_t seen = 0;
  size_t bytes = 0;
  allocations = 0;
  const Status status = generator.run(
      prompt, {kWarmUp + kDecoded, 7}, {},
      [&](int32_t, std::string_view text) {
        bytes += text.size();
        if (++seen == kWarmUp) counting = true;
        if (seen == kWarmUp + kDecoded) counting = false;
        return true;
      },
      &result);
  counting = false;
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(seen, kWarmUp + kDecoded);
  EXPECT_GT(bytes, 0u);
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
  expect_no_allocation({"threads.count=2"});
}

TEST(Allocation, NorDoesSampling) {
  expect_no_allocation(
      {"sampling=[{plugin: repetition_penalty, options: {penalty: 1.1}}, {plugin: top_k, options: "
       "{k: 40}}, {plugin: top_p, options: {p: 0.95}}, {plugin: min_p, options: {p: 0.01}}, "
       "{plugin: temperature, options: {value: 0.8}}]"});
}

TEST(Allocation, NorDoReadsOfExpertsFromDisk) {
  expect_no_allocation({"experts.budget=20%", "threads.count=2"});
}

}  // namespace
}  // namespace colibri::test
