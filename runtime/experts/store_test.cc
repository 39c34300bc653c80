// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>

namespace colibri::experts {
namespace {

// A policy whose answers the test sets: drops the lowest evictable key, or nothing, or rubbish.
enum class Answer { kLowest, kNothing, kRubbish };
Answer answer = Answer::kLowest;
std::multiset<uint32_t> residents;

const colibri_cache_policy_1 kPolicy = {
    .struct_size = sizeof(colibri_cache_policy_1),
    .state_bytes = [](const colibri_cache_shape*, const colibri_host*) { return uint64_t{8}; },
    .create = [](const colibri_cache_shape*, const colibri_host*, void*,
                 colibri_error*) -> colibri_status { return COLIBRI_OK; },
    .on_access = [](void*, uint64_t, const uint32_t* keys, const uint8_t*, uint32_t n,
                    int32_t) { EXPECT_TRUE(std::is_sorted(keys, keys + n)); },
    .on_insert = [](void*, uint32_t key) { residents.insert(key); },
    .victims = [](void*, uint32_t, const uint64_t* evictable, uint32_t,
                  uint32_t* keys) -> uint32_t {
      if (answer == Answer::kNothing) return 0;
      for (uint32_t key = 0; key < 64; ++key) {
        const bool may = (evictable[0] >> key & 1) != 0;
        if (may != (answer == Answer::kLowest)) continue;
        keys[0] = key;
        return 1;
      }
      return 0;
    },
    .on_evict = [](void*, uint32_t key) { EXPECT_EQ(residents.erase(key), 1u); },
    .resize = [](void*, uint32_t, uint32_t) -> colibri_status { return COLIBRI_OK; },
};

constexpr uint64_t kSlot = kDirectAlignment;
constexpr StoreShape kShape = {{.layers = 3, .experts = 8, .top_k = 2}, kSlot, 64};

// Each byte of an expert is its key.
class Keys final : public ExpertSource {
 public:
  explicit Keys(const std::atomic<int>& failing) : failing_(failing) {}
  Status load(uint32_t layer, uint32_t expert, std::byte* slot, std::byte* staging) const override {
    *staging = std::byte{1};
    if (failing_ == static_cast<int>(layer * 8 + expert)) return io_error("disk on fire");
    std::memset(slot, static_cast<int>(layer * 8 + expert), kSlot);
    return {};
  }

 private:
  const std::atomic<int>& failing_;
};

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    answer = Answer::kLowest;
    residents.clear();
    pool_ = std::move(*ThreadPool::create(2));
  }

  std::unique_ptr<Store> store(uint64_t slots) {
    auto made = Store::create(kShape, slots * kSlot, {"test", &kPolicy, nullptr},
                              std::make_unique<Keys>(failing_), {false, 2});
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }

  // Visits and returns the experts in the order they came, checking their bytes.
  static std::vector<uint32_t> visit(Store& store, ThreadPool& pool, uint32_t layer,
                                     std::vector<int32_t> experts) {
    const auto made = Visit::create(store);
    Visit& visit = **made;
    EXPECT_TRUE(visit.begin(store.next_step(), layer, experts).ok());
    std::vector<uint32_t> seen;
    for (;;) {
      auto wave = visit.next(pool, pool.threads());
      EXPECT_TRUE(wave.ok()) << wave.status().text();
      if (!wave.ok() || wave->empty()) return seen;
      for (const Visit::Lease& lease : *wave) {
        for (int i = 0; i < 64; ++i) {
          EXPECT_EQ(static_cast<uint32_t>(lease.data[i]), layer * 8 + lease.expert);
        }
        seen.push_back(lease.expert);
      }
    }
  }

  std::unique_ptr<ThreadPool> pool_;
  std::atomic<int> failing_ = -1;
};

TEST_F(StoreTest, EveryBudgetGivesEveryExpert) {
  for (const uint64_t slots : {2, 3, 5, 12, 24, 99}) {
    residents.clear();
    auto s = store(slots);
    std::mt19937 random(1);
    for (int step = 0; step < 60; ++step) {
      std::vector<int32_t> experts;
      for (int32_t e = 0; e < 8; ++e) {
        if (random() % 3 != 0) experts.push_back(e);
      }
      auto seen = visit(*s, *pool_, static_cast<uint32_t>(step % 3), experts);
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(std::vector<int32_t>(seen.begin(), seen.end()), experts);
      EXPECT_LE(residents.size(), slots);
    }
    const Counters counters = s->counters();
    EXPECT_EQ(counters.loads, counters.misses);
    EXPECT_EQ(s->holds_all(), slots >= 24);
    if (s->holds_all()) {
      EXPECT_EQ(counters.evictions, 0u);
      EXPECT_EQ(counters.misses, 24u);
    }
  }
}

TEST_F(StoreTest, ResidentsComeFirst) {
  auto s = store(10);
  visit(*s, *pool_, 0, {2, 5});
  EXPECT_EQ(visit(*s, *pool_, 0, {1, 2, 5, 7}), (std::vector<uint32_t>{2, 5, 1, 7}));
  EXPECT_EQ(s->counters().hits, 2u);
}

TEST_F(StoreTest, WhatThePolicyDoesNotAdmitGoesThroughThePassage) {
  auto s = store(3);
  visit(*s, *pool_, 0, {0, 1});
  answer = Answer::kNothing;
  EXPECT_EQ(visit(*s, *pool_, 0, {2, 3, 4}), (std::vector<uint32_t>{2, 3, 4}));
  EXPECT_EQ(residents, (std::multiset<uint32_t>{0, 1}));
  EXPECT_EQ(visit(*s, *pool_, 0, {0, 1}).size(), 2u);
  EXPECT_EQ(s->counters().hits, 2u);
}

TEST_F(StoreTest, AVictimThatMayNotBeDroppedIsAnErrorAndTheStoreGoesOn) {
  auto s = store(3);
  visit(*s, *pool_, 0, {0, 1});
  answer = Answer::kRubbish;
  const auto made = Visit::create(*s);
  Visit& bad = **made;
  const std::vector<int32_t> experts = {5};
  const Status status = bad.begin(s->next_step(), 0, experts);
  EXPECT_EQ(status.code(), COLIBRI_INTERNAL);
  EXPECT_NE(status.text().find("cache policy test"), std::string::npos);
  answer = Answer::kLowest;
  EXPECT_EQ(visit(*s, *pool_, 0, {5}).size(), 1u);
}

TEST_F(StoreTest, AFailedLoadIsReportedAndLeavesNothingBehind) {
  auto s = store(6);
  failing_ = 4;
  const auto made = Visit::create(*s);
  Visit& bad = **made;
  const std::vector<int32_t> experts = {3, 4, 5};
  ASSERT_TRUE(bad.begin(s->next_step(), 0, experts).ok());
  Status status;
  for (int i = 0; i < 3 && status.ok(); ++i) status = bad.next(*pool_, 2).status();
  EXPECT_EQ(status.text(), "disk on fire");
  failing_ = -1;
  EXPECT_EQ(visit(*s, *pool_, 0, {3, 4, 5}).size(), 3u);
  // Expert 3 stays if it arrived before the failure of the one behind it.
  const Counters counters = s->counters();
  EXPECT_EQ(counters.hits + counters.misses, 6u);
  EXPECT_GE(counters.misses, 5u);
}

TEST_F(StoreTest, LoadsAllUpFront) {
  auto s = store(24);
  ASSERT_TRUE(s->load_all(*pool_).ok());
  visit(*s, *pool_, 2, {0, 7});
  EXPECT_EQ(s->counters().hits, 2u);
  EXPECT_EQ(s->counters().misses, 0u);
}

TEST_F(StoreTest, RefusesABudgetBelowTheFloor) {
  auto made = Store::create(kShape, 2 * kSlot - 1, {"test", &kPolicy, nullptr},
                            std::make_unique<Keys>(failing_), {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().text(),
            "experts.budget: 8191 bytes (8.00 KiB) are below the floor of two experts, 8192 bytes "
            "(8.00 KiB); raise it");
}

TEST_F(StoreTest, VisitorsShareAStoreWithFewSlots) {
  for (const Answer how : {Answer::kLowest, Answer::kNothing}) {
    residents.clear();
    answer = how;
    auto s = store(3);
    std::vector<std::thread> visitors;
    for (unsigned id = 0; id < 4; ++id) {
      visitors.emplace_back([&, id] {
        auto pool = std::move(*ThreadPool::create(1));
        std::mt19937 random(id);
        for (int step = 0; step < 100; ++step) {
          std::vector<int32_t> experts;
          for (int32_t e = 0; e < 8; ++e) {
            if (random() % 2 != 0) experts.push_back(e);
          }
          const auto seen = visit(*s, *pool, static_cast<uint32_t>(random() % 3), experts);
          EXPECT_EQ(seen.size(), experts.size());
        }
      });
    }
    for (std::thread& visitor : visitors) visitor.join();
  }
}

}  // namespace
}  // namespace colibri::experts
