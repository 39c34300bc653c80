// SPDX-License-Identifier: Apache-2.0
// Hundreds of requests, each with a context of its own, leave the heap as it was.
// COLIBRI_SOAK_REQUESTS=N makes N of them, and says what they left.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/engine/generator.h"
#include "runtime/machine/process_memory.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

constexpr int kWarmUp = 30, kRequests = 300;

int requests() {
  const char* text = std::getenv("COLIBRI_SOAK_REQUESTS");
  return text == nullptr ? kRequests : std::atoi(text);
}

Status request(const engine::Model& model, int number) {
  COLIBRI_ASSIGN(const auto context, model.create_context(64));
  COLIBRI_ASSIGN(auto sampler, model.create_sampler());
  engine::Generator generator(*context, sampler, model.tokenizer(), {}, {});
  const std::vector<int32_t> prompt = {1, 20 + number % 50, 300, 41};
  engine::GenerateResult result;
  return generator.run(
      prompt, {12, static_cast<uint64_t>(number)}, {},
      [](int32_t, std::string_view) { return true; }, &result);
}

TEST(Soak, RequestsLeaveNothingBehind) {
  auto model = load_model("models/demo", {"experts.budget=40%", "threads.count=2"});
  ASSERT_TRUE(model.ok()) << model.status().text();
  size_t heap = 0;
  uint64_t resident = 0;
  const int count = requests();
  ASSERT_GT(count, 0) << "COLIBRI_SOAK_REQUESTS";
  for (int i = 0; i < kWarmUp + count; ++i) {
    if (i == kWarmUp) {
      heap = mallinfo2().uordblks;
      resident = machine::resident_bytes();
    }
    const Status status = request(**model, i);
    ASSERT_TRUE(status.ok()) << status.text();
  }
  const size_t heap_after = mallinfo2().uordblks;
  const uint64_t resident_after = machine::resident_bytes();
  std::printf("%d requests: heap in use %zu bytes, then %zu; resident %llu bytes, then %llu\n",
              count, heap, heap_after, static_cast<unsigned long long>(resident),
              static_cast<unsigned long long>(resident_after));
  EXPECT_EQ(heap_after, heap);
  EXPECT_LT(resident_after, resident + (1 << 20));
}

}  // namespace
}  // namespace colibri::test
