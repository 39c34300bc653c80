// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "runtime/experts/store.h"

namespace colibri::experts {
namespace {

// A policy of recency: the first in the list goes first.
std::vector<uint32_t> order;
const colibri_cache_policy_1 kRecency = {
    .struct_size = sizeof(colibri_cache_policy_1),
    .state_bytes = [](const colibri_cache_shape*, const colibri_host*) { return uint64_t{8}; },
    .create = [](const colibri_cache_shape*, const colibri_host*, void*,
                 colibri_error*) -> colibri_status {
      order.clear();
      return COLIBRI_OK;
    },
    .on_access =
        [](void*, uint64_t, const uint32_t* keys, const uint8_t*, uint32_t n, int32_t) {
          for (uint32_t i = 0; i < n; ++i) {
            if (std::erase(order, keys[i]) > 0) order.push_back(keys[i]);
          }
        },
    .on_insert = [](void*, uint32_t key) { order.push_back(key); },
    .victims = [](void*, uint32_t, const uint64_t* evictable, uint32_t,
                  uint32_t* keys) -> uint32_t {
      for (const uint32_t key : order) {
        if ((evictable[key / 64] >> (key % 64) & 1) == 0) continue;
        keys[0] = key;
        return 1;
      }
      return 0;
    },
    .on_evict = [](void*, uint32_t key) { std::erase(order, key); },
    .resize = [](void*, uint32_t, uint32_t) -> colibri_status { return COLIBRI_OK; },
};
const PolicyPlugin kPolicy = {"recency", &kRecency, nullptr};

struct Builder {
  explicit Builder(RoutingShape shape) { trace.shape = shape; }
  // Of as many tokens as it takes to ask for the experts.
  void visit(uint64_t step, uint32_t layer, std::vector<int32_t> experts) {
    const uint64_t begin = trace.experts.size();
    const uint32_t top_k = trace.shape.top_k;
    const auto tokens = (static_cast<uint32_t>(experts.size()) + top_k - 1) / top_k;
    std::sort(experts.begin(), experts.end());
    experts.erase(std::unique(experts.begin(), experts.end()), experts.end());
    trace.experts.insert(trace.experts.end(), experts.begin(), experts.end());
    trace.visits.push_back({step, layer, tokens, begin, trace.experts.size()});
  }
  RouteTrace trace;
};

RouteTrace random_trace(RoutingShape shape, uint64_t steps, uint32_t seed) {
  std::mt19937 random(seed);
  Builder made(shape);
  for (uint64_t step = 0; step < steps; ++step) {
    const uint32_t tokens = step % 16 == 0 ? 6 : 1;
    for (uint32_t layer = 0; layer < shape.layers; ++layer) {
      std::vector<int32_t> experts;
      for (uint32_t i = 0; i < tokens * shape.top_k; ++i) {
        experts.push_back(static_cast<int32_t>(random() % (1 + random() % shape.experts)));
      }
      made.visit(step, layer, experts);
    }
  }
  made.trace.bundle_bytes = 64;
  return made.trace;
}

uint64_t hits(const RouteTrace& trace, uint64_t slots) {
  const auto result = replay(trace, slots, kPolicy);
  EXPECT_TRUE(result.ok()) << result.status().text();
  return result.ok() ? result->counters.hits : 0;
}

// Experts of no bytes, that take their time in no order.
class Slow final : public ExpertSource {
 public:
  Status load(uint32_t, uint32_t expert, std::byte*, std::byte*) const override {
    std::this_thread::sleep_for(std::chrono::microseconds(expert * 7 % 5 * 20));
    return {};
  }
};

// The store itself asked for what the trace says.
TEST(Replay, CountsWhatTheStoreCounts) {
  const RoutingShape shape = {3, 8, 2};
  const RouteTrace trace = random_trace(shape, 60, 1);
  const auto pool = std::move(*ThreadPool::create(2));
  for (uint64_t slots = 2; slots <= shape.keys(); ++slots) {
    auto made = Store::create({shape, kDirectAlignment, 0}, slots * kDirectAlignment, kPolicy,
                              std::make_unique<Slow>(), {false, 3});
    ASSERT_TRUE(made.ok()) << made.status().text();
    Store& store = **made;
    if (store.holds_all()) {
      ASSERT_TRUE(store.load_all(*pool).ok());
    }
    const auto visit = std::move(*Visit::create(store));
    for (const RouteTrace::Visit& each : trace.visits) {
      ASSERT_TRUE(visit->begin(each.step, each.layer, trace.experts_of(each)).ok());
      while (!visit->next(*pool, 2)->empty()) {
      }
    }
    const Counters live = store.counters();
    const auto replayed = replay(trace, slots, kPolicy);
    ASSERT_TRUE(replayed.ok()) << replayed.status().text();
    EXPECT_EQ(replayed->counters.hits, live.hits) << slots << " slots";
    EXPECT_EQ(replayed->counters.misses, live.misses);
    EXPECT_EQ(replayed->counters.loads, live.loads);
    EXPECT_EQ(replayed->counters.evictions, live.evictions);
    EXPECT_EQ(live.hits + live.misses, trace.experts.size());
  }
}

// Every token wants the same experts: recency alone would drop each just before it is asked for.
TEST(Replay, TheGuardKeepsResidentsThroughTheToken) {
  const RoutingShape shape = {10, 8, 2};
  Builder made(shape);
  for (uint64_t step = 0; step < 101; ++step) {
    for (uint32_t layer = 0; layer < 10; ++layer) made.visit(step, layer, {1, 5});
  }
  // Of 14 slots two are the passage; the other 12 hit in each of the 100 later tokens.
  const auto guarded = replay(made.trace, 14, kPolicy);
  EXPECT_TRUE(guarded->guarded);
  EXPECT_EQ(guarded->ruled, 12u);
  EXPECT_EQ(guarded->counters.hits, 1200u);
  EXPECT_EQ(guarded->counters.evictions, 0u);
  const auto enough = replay(made.trace, 22, kPolicy);
  EXPECT_FALSE(enough->guarded);
  EXPECT_EQ(enough->ruled, 20u);
  EXPECT_EQ(enough->counters.hits, 2000u);
}

TEST(Replay, TheGuardLetsGoWhatItsLayerPassedByUnused) {
  Builder made({2, 4, 2});
  made.visit(0, 0, {0, 1});  // slots: two ruled, one passage
  made.visit(0, 1, {0, 1});  // full: both pass through
  made.visit(1, 0, {0, 2});  // 1 was not used: 2 takes its slot
  made.visit(1, 1, {0, 1});
  made.visit(2, 0, {0, 2});
  const auto result = replay(made.trace, 3, kPolicy);
  EXPECT_TRUE(result->guarded);
  EXPECT_EQ(result->counters.hits, 3u);
  EXPECT_EQ(result->counters.evictions, 1u);
}

// Recency alone would drop every expert before the next layer but one is through.
TEST(Replay, APromptKeepsWhatIsThere) {
  const RoutingShape shape = {4, 8, 2};
  Builder made(shape);
  const auto token = [&](uint64_t step) {
    for (uint32_t layer = 0; layer < 4; ++layer) made.visit(step, layer, {1, 5});
  };
  const auto prompt = [&](uint64_t step) {
    for (uint32_t layer = 0; layer < 4; ++layer) made.visit(step, layer, {0, 1, 2, 3, 4, 5, 6, 7});
  };
  const auto hits_so_far = [&] { return hits(made.trace, 20); };  // two of them are the passage
  token(0);
  prompt(1);  // 10 experts more find a place; the others pass through
  EXPECT_EQ(hits_so_far(), 8u);
  prompt(2);
  EXPECT_EQ(hits_so_far(), 8u + 18);
  token(3);
  EXPECT_EQ(hits_so_far(), 8u + 18 + 8);
  const auto result = replay(made.trace, 20, kPolicy);
  EXPECT_FALSE(result->guarded);  // single tokens are not
  EXPECT_EQ(result->ruled, 18u);
  EXPECT_EQ(result->counters.evictions, 0u);
}

// What a prompt does not ask for makes room for what it asks for.
TEST(Replay, APromptDropsWhatItsLayerDoesNotUse) {
  Builder made({2, 8, 1});
  made.visit(0, 0, {0, 7});  // slots: four ruled, two passage
  made.visit(0, 1, {0, 7});
  made.visit(1, 0, {0, 1, 2});  // 7 goes for 1; 2 passes through
  made.visit(1, 1, {0, 1, 2});
  made.visit(2, 0, {0, 1, 7});
  made.visit(2, 1, {0, 1, 7});
  const auto result = replay(made.trace, 6, kPolicy);
  EXPECT_EQ(result->counters.hits, 2u + 4);
  EXPECT_EQ(result->counters.evictions, 2u);
}

TEST(Replay, RefusesFewerThanTwoSlotsAndMoreThanAll) {
  const RouteTrace trace = random_trace({2, 4, 2}, 3, 1);
  EXPECT_EQ(replay(trace, 1, kPolicy).status().text(),
            "replay: 1 slots; from 2 to 8 can be replayed");
  EXPECT_EQ(replay(trace, 9, kPolicy).status().text(),
            "replay: 9 slots; from 2 to 8 can be replayed");
}

// The most hits by trying every choice of what to keep after every visit.
uint64_t best_by_trying_all(const RouteTrace& trace, uint64_t ruled) {
  std::map<std::set<uint32_t>, uint64_t> best = {{{}, 0}};
  for (const RouteTrace::Visit& visit : trace.visits) {
    std::map<std::set<uint32_t>, uint64_t> after;
    for (const auto& [residents, hits_before] : best) {
      std::set<uint32_t> all = residents;
      uint64_t n = hits_before;
      for (const int32_t expert : trace.experts_of(visit)) {
        n += all.insert(visit.layer * trace.shape.experts + static_cast<uint32_t>(expert)).second
                 ? 0
                 : 1;
      }
      const std::vector<uint32_t> choice(all.begin(), all.end());
      for (uint32_t kept = 0; kept < 1u << choice.size(); ++kept) {
        std::set<uint32_t> keep;
        for (size_t i = 0; i < choice.size(); ++i) {
          if ((kept >> i & 1) != 0) keep.insert(choice[i]);
        }
        if (keep.size() > ruled) continue;
        uint64_t& so_far = after[keep];
        so_far = std::max(so_far, n);
      }
    }
    best = std::move(after);
  }
  uint64_t most = 0;
  for (const auto& [residents, n] : best) most = std::max(most, n);
  return most;
}

TEST(Replay, TellsDecodingFromPrompts) {
  Builder made({1, 4, 1});
  made.visit(0, 0, {0, 1, 2});
  made.visit(1, 0, {0, 1});
  made.visit(2, 0, {1});
  made.visit(3, 0, {2});
  made.visit(4, 0, {3});
  made.visit(5, 0, {3});
  EXPECT_EQ(made.trace.asked_in_decoding(), 4u);
  const auto all = replay(made.trace, 4, kPolicy);
  EXPECT_EQ(all->counters.hits, 9u);
  EXPECT_EQ(all->decode_misses, (MissCounts{4, 0}));
  // Three slots, one of them the passage: 0 and 1 stay, then make room.
  const auto some = replay(made.trace, 3, kPolicy);
  const OptimalHits optimum = belady_hits(made.trace, some->ruled);
  EXPECT_EQ(some->decode_misses[0] + some->decode_misses[1], 4u);
  EXPECT_GE(some->decode_misses[1], optimum.decode_misses[1]);
  EXPECT_EQ(optimum.decode_misses, (MissCounts{2, 2}));  // hits: 1 and the second 3
  EXPECT_EQ(belady_hits(made.trace, 4).decode_misses, (MissCounts{4, 0}));
}

TEST(Belady, IsTheBestOfAllChoices) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    const RouteTrace trace = random_trace({2, 4, 2}, 9, seed);
    for (const uint64_t ruled : {1, 2, 3, 5}) {
      EXPECT_EQ(belady_hits(trace, ruled).all, best_by_trying_all(trace, ruled))
          << seed << " " << ruled;
    }
  }
}

TEST(Belady, NoPolicyHitsMore) {
  const RoutingShape shape = {3, 8, 2};
  const RouteTrace trace = random_trace(shape, 200, 7);
  uint64_t before = 0;
  for (uint64_t slots = 2; slots <= shape.keys(); ++slots) {
    const auto result = replay(trace, slots, kPolicy);
    const uint64_t optimum = belady_hits(trace, result->ruled).all;
    EXPECT_LE(result->counters.hits, optimum) << slots << " slots";
    EXPECT_LE(before, optimum);
    before = optimum;
  }
  EXPECT_EQ(hits(trace, shape.keys()), trace.experts.size());
  EXPECT_EQ(belady_hits(trace, shape.keys()).all, trace.experts.size());
}

}  // namespace
}  // namespace colibri::experts
