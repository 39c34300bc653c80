// SPDX-License-Identifier: Apache-2.0
// What is read ahead changes no byte, no hit and no choice of a victim; it only makes reads begin
// earlier.
#include "runtime/experts/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>
#include <thread>

#include "runtime/experts/made_up_experts.h"

namespace colibri::experts {
namespace {

constexpr StoreShape kShape = {{.layers = 4, .experts = 16, .top_k = 4}, kBundle, 0};
using Experts = std::vector<int32_t>;

class ReadAheadTest : public testing::Test {
 protected:
  ~ReadAheadTest() override { fault_injection::set_read_fault({}); }

  static std::unique_ptr<Store> store(const Way& way, uint64_t slots, uint32_t ahead) {
    StoreShape shape = kShape;
    shape.ahead = ahead;
    auto made = Store::create(shape, (slots + ahead) * kBundle, {"lowest", &kLowest, nullptr},
                              std::make_unique<MadeUpExperts>(kShape, way.file), way.reading);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }

  // All experts of a visit, whose bytes it checks, in the order they come.
  Result<Experts> visit(Store& store, Visit& visit, uint32_t layer, const Experts& experts,
                        const Experts& expected = {}) {
    const MadeUpExperts want(kShape, nullptr);
    COLIBRI_TRY(visit.begin(store.next_step(), layer, experts));
    visit.expect((layer + 1) % kShape.layers, expected);
    Experts seen;
    for (;;) {
      COLIBRI_ASSIGN(const auto wave, visit.next(*pool_, pool_->threads()));
      if (wave.empty()) return seen;
      for (const Visit::Lease& lease : wave) {
        EXPECT_TRUE(want.check(layer, lease.expert, 0, lease.data).ok())
            << "a wrong byte was given";
        seen.push_back(static_cast<int32_t>(lease.expert));
      }
    }
  }

  static Experts some(std::mt19937& random) {
    Experts experts;
    for (int32_t e = 0; e < 16; ++e) {
      if (random() % 4 == 0) experts.push_back(e);
    }
    return experts;
  }

  // Counts the reads of expert 8 of layer 1, which may fail.
  static void watch(std::atomic<int>& reads, const std::atomic<bool>& failing) {
    fault_injection::set_read_fault(
        [&](const std::filesystem::path&, uint64_t offset, uint64_t bytes) -> int64_t {
          if (offset / kBundle != 16 + 8) return static_cast<int64_t>(bytes);
          const bool fails = failing;
          reads.fetch_add(1);
          return fails ? -EIO : static_cast<int64_t>(bytes);
        });
  }

  const MadeUpFile file_{kShape};
  const std::unique_ptr<ThreadPool> pool_ = std::move(*ThreadPool::create(2));
};

TEST_F(ReadAheadTest, WhatWasGuessedRightIsReadOnceAndComesFirst) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    std::atomic<int> reads = 0;
    const std::atomic<bool> failing = false;
    watch(reads, failing);
    const auto s = store(way, 12, 2);
    const auto v = std::move(*Visit::create(*s));
    ASSERT_TRUE(visit(*s, *v, 0, {1, 2}, {8, 3}).ok());
    const auto got = visit(*s, *v, 1, {0, 7, 8});
    ASSERT_TRUE(got.ok()) << got.status().text();
    EXPECT_EQ(*got, (Experts{8, 7, 0}));
    EXPECT_EQ(reads, 1);
    EXPECT_EQ(s->counters().ahead, 2u);
    EXPECT_EQ(s->counters().ahead_used, 1u);
    EXPECT_EQ(s->counters().misses, 5u);
    EXPECT_EQ(s->counters().loads, 5u);
    // What was not asked for is still there when it is.
    ASSERT_TRUE(visit(*s, *v, 1, {3}).ok());
    EXPECT_EQ(s->counters().ahead_used, 2u);
  }
}

TEST_F(ReadAheadTest, NoGuessChangesWhatIsAHit) {
  for (const Way& way : file_.ways()) {
    for (const uint64_t slots : {2, 9, 30}) {
      SCOPED_TRACE(way.name + " " + std::to_string(slots));
      const auto plain = store(way, slots, 0), ahead = store(way, slots, 2);
      const auto a = std::move(*Visit::create(*plain)), b = std::move(*Visit::create(*ahead));
      std::mt19937 random(7);
      Experts next = some(random);
      for (uint32_t i = 0; i < 80; ++i) {
        const Experts experts = next;
        next = some(random);
        Experts guess = next;  // more or less
        std::shuffle(guess.begin(), guess.end(), random);
        const auto wrong = static_cast<int32_t>(random() % 16);
        if (!guess.empty() && std::find(guess.begin(), guess.end(), wrong) == guess.end()) {
          guess[0] = wrong;
        }
        auto want = visit(*plain, *a, i % 4, experts),
             got = visit(*ahead, *b, i % 4, experts, guess);
        ASSERT_TRUE(want.ok() && got.ok());
        std::sort(want->begin(), want->end());
        std::sort(got->begin(), got->end());
        EXPECT_EQ(*got, *want);
      }
      const Counters x = plain->counters(), y = ahead->counters();
      EXPECT_EQ(x.hits, y.hits);
      EXPECT_EQ(x.misses, y.misses);
      EXPECT_EQ(x.loads, y.loads);
      EXPECT_EQ(x.evictions, y.evictions);
      EXPECT_GT(y.ahead_used, 10u);
      EXPECT_GT(y.ahead, y.ahead_used);
    }
  }
}

TEST_F(ReadAheadTest, AGuessThatCouldNotBeReadIsReadAgainWhenItIsAskedFor) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    std::atomic<int> reads = 0;
    std::atomic<bool> failing = true;
    watch(reads, failing);
    const auto s = store(way, 12, 2);
    const auto v = std::move(*Visit::create(*s));
    ASSERT_TRUE(visit(*s, *v, 0, {1, 2}, {8}).ok());
    EXPECT_TRUE(visit(*s, *v, 1, {4, 5}).ok());
    EXPECT_EQ(visit(*s, *v, 1, {4, 8}).status().code(), COLIBRI_IO);
    const int before = reads;
    ASSERT_TRUE(visit(*s, *v, 0, {1, 2}, {8}).ok());
    // Each read is tried twice; a ring's second try waits for somebody to ask for the first's answer.
    while (!way.reading.ring && reads < before + 2) std::this_thread::yield();
    failing = false;
    EXPECT_TRUE(visit(*s, *v, 1, {4, 8}).ok());
    EXPECT_EQ(s->counters().ahead_used, 2u);
  }
}

TEST_F(ReadAheadTest, OnlyWhenNobodyWaitsForTheDisk) {
  std::atomic<bool> go_on = true;
  fault_injection::set_read_fault([&](const std::filesystem::path&, uint64_t, uint64_t bytes) {
    while (!go_on) std::this_thread::yield();
    return static_cast<int64_t>(bytes);
  });
  for (const Way& way : file_.ways()) {
    if (way.reading.ring) continue;  // its faults happen when it is asked
    SCOPED_TRACE(way.name);
    const auto s = store(way, 12, 2);
    const auto first = std::move(*Visit::create(*s)), second = std::move(*Visit::create(*s));
    ASSERT_TRUE(visit(*s, *second, 0, {1}).ok());
    go_on = false;
    const Experts missing = {5}, there = {1};
    ASSERT_TRUE(first->begin(s->next_step(), 2, missing).ok());
    ASSERT_TRUE(visit(*s, *second, 0, there, {8}).ok());
    EXPECT_EQ(s->counters().ahead, 0u);
    go_on = true;
    EXPECT_TRUE(first->next(*pool_, 1).ok());
    EXPECT_TRUE(visit(*s, *second, 0, there, {8}).ok());
    EXPECT_EQ(s->counters().ahead, 1u);
  }
}

TEST_F(ReadAheadTest, TheBudgetMayChangeMeanwhile) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto s = store(way, 62, 2);  // all of them, and more
    EXPECT_TRUE(s->holds_all());
    const auto v = std::move(*Visit::create(*s));
    ASSERT_TRUE(visit(*s, *v, 0, {1, 2}, {8, 3}).ok());
    EXPECT_FALSE(v->guesses());
    EXPECT_EQ(s->set_budget(3 * kBundle).text(),
              "experts.budget: 12288 bytes (12.0 KiB) are below the floor of two experts and the "
              "2 that are read ahead, 16384 bytes (16.0 KiB); raise it");
    std::mt19937 random(11);
    for (uint32_t i = 0; i < 80; ++i) {
      ASSERT_TRUE(s->set_budget((4 + random() % 70) * kBundle).ok());
      const auto got = visit(*s, *v, i % 4, some(random), some(random));
      ASSERT_TRUE(got.ok()) << got.status().text();
    }
    EXPECT_GT(s->counters().ahead_used, 0u);
  }
}

}  // namespace
}  // namespace colibri::experts
