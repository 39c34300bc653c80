// SPDX-License-Identifier: Apache-2.0
// Memory that the system does not give, at each place in turn: loading a model, contexts, answers,
// other budgets, conversion, listing folders. It is a message each time, and the process goes on. Plans
// are made with memory enough: nlohmann-json's destructor ends the process when it gets none.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>

#include "runtime/base/folder.h"
#include "runtime/base/guard.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/convert/convert.h"
#include "runtime/model/model_files.h"
#include "tests/engine/loaded_model.h"
#include "tests/engine/replaced_malloc.h"

namespace colibri::test {
namespace {

constexpr long kNone = -1;
std::atomic<long> left = kNone;  // allocations until the one that fails
std::atomic<long> made = 0;
std::atomic<bool> paused = false;

}  // namespace

bool allocation_fails() {
  if (paused.load(std::memory_order_relaxed)) return false;
  made.fetch_add(1, std::memory_order_relaxed);
  if (left.load(std::memory_order_relaxed) == kNone) return false;
  if (left.fetch_sub(1) != 0) return false;
  left = kNone;
  return true;
}

namespace {

using Settings = std::vector<std::string>;
const Settings kStreamed = {"threads.count=1", "experts.budget=40%", "experts.prefetch=idle"};

Result<std::unique_ptr<engine::Plan>> plan_with_memory_enough(const Settings& settings) {
  paused = true;
  auto plan = make_plan("models/demo", settings);
  paused = false;
  return plan;
}

// What a piece of work does when the allocation with that number, counted from its start, fails.
Status with_failure(long number, const std::function<Status()>& work) {
  left = number;
  Status status = guarded("the test", work);
  left = kNone;
  return status;
}

// Lets allocations fail, at most about `most` of them, evenly spread: the first always.
void fail_in_turn(const std::function<Status()>& work, long most) {
  ASSERT_TRUE(work().ok());  // what is only made once is there
  const long before = made;
  const Status whole = guarded("the test", work);
  ASSERT_TRUE(whole.ok()) << whole.text();
  const long count = made - before;
  ASSERT_GT(count, 0);
  const long step = std::max(1L, count / most);
  int refused = 0;
  for (long number = 0; number < count; number += step) {
    const Status status = with_failure(number, work);
    if (status.ok()) continue;  // a cache, a wish: it did without
    ++refused;
    EXPECT_FALSE(status.text().empty());
    EXPECT_EQ(status.code(), COLIBRI_OUT_OF_MEMORY)
        << "allocation " << number << " of " << count << ": " << status.text();
  }
  EXPECT_GT(refused, 0);
  const Status after = guarded("the test", work);
  EXPECT_TRUE(after.ok()) << after.text();
}

Status answer(const engine::Model& model) {
  COLIBRI_ASSIGN(const auto context, model.create_context(32));
  std::vector<float> logits(static_cast<size_t>(context->vocabulary()));
  return context->forward(std::vector<int32_t>{1, 17, 33, 60}, engine::LogitsOf::kLast,
                          logits.data());
}

TEST(FailingAllocation, Loading) {
  fail_in_turn(
      []() -> Status {
        COLIBRI_ASSIGN(auto plan, plan_with_memory_enough(kStreamed));
        return engine::Model::load(std::move(plan)).status();
      },
      5000);
}

TEST(FailingAllocation, ListingFolders) {
  fail_in_turn([] { return list_folder("models/demo").status(); }, 10000);
  fail_in_turn([] { return model::ModelFiles::open("models/demo").status(); }, 10000);
}

TEST(FailingAllocation, ContextsAndAnswers) {
  const auto model = load_model("models/demo", kStreamed);
  ASSERT_TRUE(model.ok()) << model.status().text();
  fail_in_turn([&] { return answer(**model); }, 10000);
}

TEST(FailingAllocation, ReadingExpertsAllocatesNothing) {
  const auto model = load_model("models/demo", kStreamed);
  ASSERT_TRUE(model.ok()) << model.status().text();
  const auto context = std::move(*(*model)->create_context(32));
  std::vector<float> logits(static_cast<size_t>(context->vocabulary()));
  const std::vector<int32_t> ids = {1, 17, 33, 60};
  const uint64_t loads = (*model)->store()->counters().loads;
  left = 0;
  const Status status = context->forward(ids, engine::LogitsOf::kLast, logits.data());
  const bool unused = left == 0;
  left = kNone;
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_TRUE(unused);
  EXPECT_GT((*model)->store()->counters().loads, loads);
}

TEST(FailingAllocation, OtherBudgets) {
  const auto model = load_model("models/demo", kStreamed);
  ASSERT_TRUE(model.ok()) << model.status().text();
  const uint64_t slot = (*model)->plan().memory.slot;
  uint64_t slots = (*model)->plan().memory.experts / slot;
  fail_in_turn(
      [&] {
        Status raised = (*model)->set_expert_budget(++slots * slot);
        if (!raised.ok()) --slots;
        return raised;
      },
      10000);
  const Status status = answer(**model);
  EXPECT_TRUE(status.ok()) << status.text();
}

TEST(FailingAllocation, Converting) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "demo.colibri";
  fail_in_turn(
      [&]() -> Status {
        std::filesystem::remove(file);
        COLIBRI_ASSIGN(const auto plan, plan_with_memory_enough({"threads.count=1"}));
        return convert::convert(*plan, file, [](uint64_t, uint64_t) {});
      },
      100);
}

}  // namespace
}  // namespace colibri::test
