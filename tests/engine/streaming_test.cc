// SPDX-License-Identifier: Apache-2.0
// Experts that come from disk change no answer, whatever reads them, whichever stay in memory, and when
// the budget changes meanwhile; and a server's day of requests leaves nothing behind.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "runtime/base/file.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/convert/convert.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

using Path = std::filesystem::path;
using Settings = std::vector<std::string>;

class StreamingTest : public testing::Test {
 protected:
  ~StreamingTest() override { fault_injection::set_read_fault({}); }

  Path converted(const Path& model) {
    const Path file = folder_.path() / (model.filename().string() + ".colibri");
    auto plan = make_plan(model, {});
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    const Status made = convert::convert(**plan, file, [](uint64_t, uint64_t) {});
    EXPECT_TRUE(made.ok()) << made.text();
    return file;
  }

  // A prompt in chunks, then greedy decoding: all logits on the way.
  static Result<std::vector<float>> answer(const engine::Model& model) {
    COLIBRI_ASSIGN(const auto context, model.create_context(40));
    const auto vocabulary = static_cast<size_t>(context->vocabulary());
    std::vector<float> all, logits(vocabulary);
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < 20; ++i) ids.push_back(1 + i * 37 % 80);
    for (int token = 0; token < 6; ++token) {
      COLIBRI_TRY(context->forward(ids, engine::LogitsOf::kLast, logits.data()));
      all.insert(all.end(), logits.begin(), logits.end());
      ids = {argmax(logits.data(), vocabulary)};
    }
    return all;
  }

  // What can read the experts of a .colibri file here.
  static std::vector<Settings> ways(const Path& file) {
    std::vector<Settings> all;
    for (const char* engine : {"experts.io.engine=pread", "experts.io.engine=io_uring"}) {
      for (const char* direct : {"experts.io.direct=off", "experts.io.direct=on"}) {
        if (make_plan(file, {engine, direct}).ok()) all.push_back({engine, direct});
      }
    }
    EXPECT_FALSE(all.empty());
    return all;
  }

  const TemporaryFolder folder_{"colibri streaming 流"};
};

const Settings kCommon = {"threads.count=2", "context.prefill_chunk=9"};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  settings.insert(settings.end(), kCommon.begin(), kCommon.end());
  return settings;
}

TEST_F(StreamingTest, NoWayOfReadingNoPolicyAndNoBudgetChangesAnAnswer) {
  for (const char* name :
       {"tests/golden/models/deepseek_v3_bf16", "tests/golden/models/gpt_oss_yarn_f32"}) {
    auto whole = load_model(name, with({}, {"experts.budget=all"}));
    ASSERT_TRUE(whole.ok()) << whole.status().text();
    const auto want = answer(**whole);
    ASSERT_TRUE(want.ok()) << want.status().text();
    const uint64_t slot = (*whole)->plan().memory.slot;
    const std::string floor = "experts.budget=" + std::to_string(2 * slot);
    const Path file = converted(name);
    for (const char* policy : {"lru", "lfu", "s3fifo", "arc"}) {
      for (const std::string& budget : {floor, std::string("experts.budget=50%")}) {
        if (budget == floor && policy != std::string("lru")) continue;  // one slot is ruled: by any
        std::optional<uint64_t> hits;
        Settings settings = {budget, std::string("experts.policy.plugin=") + policy};
        std::vector<std::pair<Path, Settings>> runs = {{name, settings}};
        for (const Settings& way : ways(file)) {
          runs.emplace_back(file, settings);
          runs.back().second.insert(runs.back().second.end(), way.begin(), way.end());
        }
        for (const auto& [path, each] : runs) {
          std::string text = path.string();
          for (const std::string& setting : each) text += " " + setting;
          SCOPED_TRACE(text);
          auto model = load_model(path, with(each, {}));
          ASSERT_TRUE(model.ok()) << model.status().text();
          const auto got = answer(**model);
          ASSERT_TRUE(got.ok()) << got.status().text();
          EXPECT_TRUE(*got == *want);
          // Nor does what reads an expert change which of them stay.
          const uint64_t now = (*model)->store()->counters().hits;
          EXPECT_EQ(hits.value_or(now), now);
          hits = now;
        }
        for (const auto& [path, each] : runs) {
          SCOPED_TRACE(path.string() + " reading ahead");
          Settings ahead = each;
          ahead.emplace_back("experts.prefetch=idle");
          // Room for two more.
          const uint64_t of = (*whole)->plan().memory.experts_all;
          const uint64_t bytes = budget == floor ? 4 * slot : of / 2 / slot * slot + 2 * slot;
          ahead[0] = "experts.budget=" + std::to_string(bytes);
          auto model = load_model(path, with(ahead, {}));
          ASSERT_TRUE(model.ok()) << model.status().text();
          const auto got = answer(**model);
          ASSERT_TRUE(got.ok()) << got.status().text();
          EXPECT_TRUE(*got == *want);
          const experts::Counters counters = (*model)->store()->counters();
          EXPECT_EQ(counters.hits, hits);
          // There is a layer to guess for behind the first one.
          EXPECT_EQ(counters.ahead_used > 0, (*model)->store()->shape().layers > 1);
        }
      }
    }
  }
}

TEST_F(StreamingTest, NorDoesABudgetThatChangesMeanwhile) {
  const Path model = "models/demo";
  auto whole = load_model(model, with({}, {"experts.budget=all"}));
  const auto want = answer(**whole);
  ASSERT_TRUE(want.ok()) << want.status().text();
  const Path file = converted(model);
  std::vector<std::pair<Path, Settings>> runs = {{model, {}}};
  for (const Settings& way : ways(file)) runs.emplace_back(file, way);
  for (const auto& [path, settings] : runs) {
    for (const char* policy : {"lru", "s3fifo", "arc"}) {
      auto loaded =
          load_model(path, with(settings, {"experts.budget=40%", "experts.prefetch=idle",
                                           std::string("experts.policy.plugin=") + policy}));
      ASSERT_TRUE(loaded.ok()) << loaded.status().text();
      engine::Model& streaming = **loaded;
      const uint64_t slot = streaming.plan().memory.slot;
      EXPECT_EQ(streaming.set_expert_budget(slot).code(), COLIBRI_INVALID_ARGUMENT);
      std::atomic<bool> done = false;
      std::thread budgets([&] {
        for (uint64_t slots = 4; !done; slots = 4 + slots * 5 % 17) {
          EXPECT_TRUE(streaming.set_expert_budget(slots * slot).ok());
          std::this_thread::yield();
        }
      });
      for (int i = 0; i < 3; ++i) {
        const auto got = answer(streaming);
        EXPECT_TRUE(got.ok()) << got.status().text();
        EXPECT_TRUE(got.ok() && *got == *want);
      }
      done = true;
      budgets.join();
    }
  }
}

TEST_F(StreamingTest, AFailedReadIsThatOfItsRequest) {
  const Path file = converted("models/demo");
  for (const Settings& way : ways(file)) {
    auto loaded = load_model(file, with(way, {"experts.budget=25%"}));
    ASSERT_TRUE(loaded.ok()) << loaded.status().text();
    const auto want = answer(**loaded);
    fault_injection::set_read_fault(
        [](const std::filesystem::path&, uint64_t, uint64_t) { return -EIO; });
    EXPECT_EQ(answer(**loaded).status().code(), COLIBRI_IO);
    fault_injection::set_read_fault({});
    const auto after = answer(**loaded);
    ASSERT_TRUE(after.ok()) << after.status().text();
    EXPECT_TRUE(*after == *want);
  }
}

}  // namespace
}  // namespace colibri::test
