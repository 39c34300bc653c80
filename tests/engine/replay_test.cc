// SPDX-License-Identifier: Apache-2.0
// A route trace recorded live replays to the store's own counters, exactly, for every cache policy
// and budget; and no policy or budget changes an answer.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "runtime/base/file.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/experts/replay.h"
#include "runtime/experts/usage.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

constexpr const char* kDemo = "models/demo";
constexpr const char* kPolicies[] = {"lru", "lfu", "s3fifo", "arc", "pinned"};

class ReplayTest : public testing::Test {
 protected:
  static std::string policy(const std::string& id, const std::string& options) {
    return "experts.policy={plugin: " + id + ", options: {" + options + "}}";
  }

  // A prompt in chunks, then greedy decoding; all logits on the way, and the trace.
  std::vector<float> run(engine::Model& model) {
    EXPECT_TRUE(model.record_routes(trace_).ok());
    auto context = std::move(*model.create_context(256));
    const auto vocabulary = static_cast<size_t>(context->vocabulary());
    std::vector<float> all, logits(vocabulary);
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < 70; ++i) ids.push_back(1 + i * 37 % 500);
    for (int token = 0; token < 40; ++token) {
      const Status status = context->forward(ids, engine::LogitsOf::kLast, logits.data());
      EXPECT_TRUE(status.ok()) << status.text();
      all.insert(all.end(), logits.begin(), logits.end());
      ids = {argmax(logits.data(), vocabulary)};
    }
    EXPECT_TRUE(model.finish_routes().ok());
    return all;
  }

  const TemporaryFolder folder_{"colibri replay 重放"};
  const std::filesystem::path trace_ = folder_.path() / "trace", usage_ = folder_.path() / "usage";
};

TEST_F(ReplayTest, LiveCountersAreTheReplayedOnes) {
  const std::vector<std::string> common = {"context.prefill_chunk=32", "threads.count=2"};
  auto whole = load_model(kDemo, {common[0], common[1], "experts.budget=all"});
  ASSERT_TRUE(whole.ok()) << whole.status().text();
  const std::vector<float> answer = run(**whole);
  const experts::RoutingShape shape = (*whole)->store()->shape();
  ASSERT_TRUE(write_file(usage_, experts::usage_text(shape, (*whole)->store()->uses())).ok());

  std::set<uint64_t> different_hits;
  for (const std::string id : kPolicies) {
    for (const char* budget : {"13%", "25%", "40%", "70%", "all"}) {
      SCOPED_TRACE(id + " " + budget);
      const std::string options = id == "pinned" ? "usage: '" + usage_.string() + "'" : "";
      auto model = load_model(kDemo, {common[0], common[1], policy(id, options),
                                      std::string("experts.budget=") + budget});
      ASSERT_TRUE(model.ok()) << model.status().text();
      EXPECT_EQ(run(**model), answer);

      const experts::Store& store = *(*model)->store();
      const auto trace = experts::read_route_trace(trace_);
      ASSERT_TRUE(trace.ok()) << trace.status().text();
      EXPECT_EQ(trace->bundle_bytes, store.shape().slot_bytes);
      const plugin::Instance& instance = *(*model)->plan().policy;
      const auto replayed = experts::replay(
          *trace, store.slots(),
          {id, instance.plugin().interface<colibri_cache_policy_1>("colibri.cache_policy/1"),
           instance.host()});
      ASSERT_TRUE(replayed.ok()) << replayed.status().text();
      const experts::Counters live = store.counters();
      EXPECT_GT(live.hits, 0u);
      EXPECT_EQ(replayed->counters.hits, live.hits);
      EXPECT_EQ(replayed->counters.misses, live.misses);
      EXPECT_EQ(replayed->counters.loads, live.loads);
      EXPECT_EQ(replayed->counters.evictions, live.evictions);
      EXPECT_EQ(live.hits + live.misses, trace->experts.size());
      EXPECT_LE(live.hits, experts::belady_hits(*trace, replayed->ruled).all);
      different_hits.insert(live.hits);
    }
  }
  EXPECT_GT(different_hits.size(), 6u) << "policies and budgets that all do the same prove nothing";
}

}  // namespace
}  // namespace colibri::test
