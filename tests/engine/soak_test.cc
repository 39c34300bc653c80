// SPDX-License-Identifier: Apache-2.0
// Hundreds of requests, each with a context of its own, leave the heap as it was.
#include <gtest/gtest.h>
#include <malloc.h>

#include "runtime/engine/generator.h"
#include "runtime/machine/process_memory.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

constexpr int kWarmUp = 30, kRequests = 300;

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
  for (int i = 0; i < kWarmUp + kRequests; ++i) {
    if (i == kWarmUp) {
      heap = mallinfo2().uordblks;
      resident = machine::resident_bytes();
    }
    const Status status = request(**model, i);
    ASSERT_TRUE(status.ok()) << status.text();
  }
  EXPECT_EQ(mallinfo2().uordblks, heap);
  EXPECT_LT(machine::resident_bytes(), resident + (1 << 20));
}

}  // namespace
}  // namespace colibri::test
