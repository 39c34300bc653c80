// SPDX-License-Identifier: Apache-2.0
// The store on a disk that fails, and under a budget that changes: no wrong byte, no lost slot, and a
// failure is that of its visitor only.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <random>
#include <thread>

#include "runtime/experts/made_up_experts.h"

namespace colibri::experts {
namespace {

constexpr StoreShape kShape = {{.layers = 3, .experts = 16, .top_k = 4}, kBundle, 0};

class StoreFaultsTest : public testing::Test {
 protected:
  ~StoreFaultsTest() override { fault_injection::set_read_fault({}); }

  std::unique_ptr<Store> store(const Way& way, uint64_t slots, uint32_t ahead = 0) {
    StoreShape shape = kShape;
    shape.ahead = ahead;
    auto made = Store::create(shape, slots * kBundle, {"lowest", &kLowest, nullptr},
                              std::make_unique<MadeUpExperts>(kShape, way.file), way.reading);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }

  void stress(uint32_t ahead);

  // Looks at every byte that the store gives, and expects something of the next layer.
  static Status visit(Store& store, Visit& visit, ThreadPool& pool, uint32_t layer,
                      const std::vector<int32_t>& experts) {
    const MadeUpExperts want(kShape, nullptr);
    COLIBRI_TRY(visit.begin(store.next_step(), layer, experts));
    const auto guess = static_cast<int32_t>(layer * 7 + experts.size()) % 13;
    visit.expect((layer + 1) % 3, std::vector<int32_t>{guess, guess + 2, guess + 1, guess + 3});
    std::vector<int32_t> seen;
    for (;;) {
      COLIBRI_ASSIGN(const auto wave, visit.next(pool, pool.threads()));
      if (wave.empty()) break;
      for (const Visit::Lease& lease : wave) {
        EXPECT_TRUE(want.check(layer, lease.expert, 0, lease.data).ok())
            << "a wrong byte was given";
        seen.push_back(static_cast<int32_t>(lease.expert));
      }
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, experts);
    return {};
  }

  static std::vector<int32_t> some(std::mt19937& random) {
    std::vector<int32_t> experts;
    for (int32_t e = 0; e < 16; ++e) {
      if (random() % 3 == 0) experts.push_back(e);
    }
    return experts;
  }

  const MadeUpFile file_{kShape};
};

TEST_F(StoreFaultsTest, WhatPassesLeavesNoTrace) {
  const auto pool = std::move(*ThreadPool::create(2));
  const fault_injection::ReadFault passing[] = {
      {},
      [n = 0](const std::filesystem::path&, uint64_t, uint64_t bytes) mutable {
        return ++n % 2 == 0 ? static_cast<int64_t>(bytes) : -EIO;
      },
      [n = 0](const std::filesystem::path&, uint64_t, uint64_t bytes) mutable {
        return ++n % 3 == 0 ? static_cast<int64_t>(bytes) : n % 3 == 1 ? -EAGAIN : -EINTR;
      },
      [](const std::filesystem::path&, uint64_t offset, uint64_t bytes) {  // a slow disk
        std::this_thread::sleep_for(std::chrono::microseconds(offset / kBundle % 5 * 100));
        return static_cast<int64_t>(bytes);
      }};
  for (Way way : file_.ways()) {
    way.reading.depth = 1;  // the faults above count: one read after another
    for (const auto& fault : passing) {
      SCOPED_TRACE(way.name);
      fault_injection::set_read_fault(fault);
      const auto s = store(way, 9);
      const auto visitor = std::move(*Visit::create(*s));
      std::mt19937 random(3);
      for (uint32_t i = 0; i < 40; ++i) {
        const Status status = visit(*s, *visitor, *pool, i % 3, some(random));
        EXPECT_TRUE(status.ok()) << status.text();
      }
    }
  }
}

TEST_F(StoreFaultsTest, AFailureIsThatOfItsVisitorAndTheStoreGoesOn) {
  const auto pool = std::move(*ThreadPool::create(1));
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto s = store(way, 9);
    const auto bad = std::move(*Visit::create(*s)), good = std::move(*Visit::create(*s));
    for (const uint64_t slots : {9, 2, 48}) {
      ASSERT_TRUE(s->set_budget(2 * kBundle).ok());  // nothing of what will fail is there
      ASSERT_TRUE(s->set_budget(slots * kBundle).ok());
      fault_injection::set_read_fault(
          [](const std::filesystem::path&, uint64_t offset, uint64_t bytes) {
            return offset / kBundle == 16 + 7 ? -EIO : static_cast<int64_t>(bytes);
          });
      const Status status = visit(*s, *bad, *pool, 1, {2, 5, 7, 9, 12});
      EXPECT_EQ(status.text(), file_.path().string() + ": reading at byte " +
                                   std::to_string(23 * kBundle) + " failed: Input/output error");
      EXPECT_TRUE(visit(*s, *good, *pool, 1, {2, 5, 9, 12}).ok());
      fault_injection::set_read_fault({});
      EXPECT_TRUE(visit(*s, *bad, *pool, 1, {2, 5, 7, 9, 12}).ok());
    }
  }
}

TEST_F(StoreFaultsTest, BytesThatAreNotThoseOfTheExpertAreNotGiven) {
  const auto pool = std::move(*ThreadPool::create(2));
  std::string content = *read_file(file_.path(), 1u << 20);
  content[5 * kBundle + 77] = static_cast<char>(content[5 * kBundle + 77] ^ 4);
  ASSERT_TRUE(write_file(file_.path(), content).ok());
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto s = store(way, 9);
    const auto visitor = std::move(*Visit::create(*s));
    EXPECT_EQ(visit(*s, *visitor, *pool, 0, {3, 5, 6}).text(), "wrong bytes in expert 5");
    EXPECT_TRUE(visit(*s, *visitor, *pool, 0, {3, 6}).ok());
  }
}

TEST_F(StoreFaultsTest, AFileThatBecameShorterIsNamed) {
  const auto pool = std::move(*ThreadPool::create(2));
  std::filesystem::resize_file(file_.path(), 20 * kBundle);
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto s = store(way, 9);
    const auto visitor = std::move(*Visit::create(*s));
    EXPECT_TRUE(visit(*s, *visitor, *pool, 0, {3, 5, 6}).ok());
    EXPECT_EQ(visit(*s, *visitor, *pool, 1, {3, 5}).text(),
              file_.path().string() + ": ends at byte " + std::to_string(21 * kBundle) +
                  ", it was cut short while in use");
  }
}

// What is there computes while what is missing is read.
TEST_F(StoreFaultsTest, HitsDoNotWaitForMisses) {
  const auto pool = std::move(*ThreadPool::create(1));
  for (const Way& way : file_.ways()) {
    if (way.reading.ring) continue;  // its faults happen when it is asked
    SCOPED_TRACE(way.name);
    const auto s = store(way, 9);
    const auto visitor = std::move(*Visit::create(*s));
    ASSERT_TRUE(visit(*s, *visitor, *pool, 0, {1, 2}).ok());
    std::atomic<int> reading = 0;
    std::atomic<bool> computed = false;
    fault_injection::set_read_fault([&](const std::filesystem::path&, uint64_t, uint64_t bytes) {
      reading.fetch_add(1);
      while (!computed) std::this_thread::yield();
      return static_cast<int64_t>(bytes);
    });
    const std::vector<int32_t> experts = {1, 2, 3, 4};
    ASSERT_TRUE(visitor->begin(s->next_step(), 0, experts).ok());
    const auto hits = visitor->next(*pool, 1);
    ASSERT_TRUE(hits.ok());
    EXPECT_EQ(hits->size(), 2u);
    while (reading < 2) std::this_thread::yield();  // both misses are on their way
    computed = true;
    EXPECT_TRUE(visitor->next(*pool, 1).ok());
    visitor->end();
    fault_injection::set_read_fault({});
  }
}

TEST_F(StoreFaultsTest, TheBudgetMayChangeAtAnyTime) {
  const auto pool = std::move(*ThreadPool::create(1));
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto s = store(way, 4);
    EXPECT_EQ(s->set_budget(kBundle).code(), COLIBRI_INVALID_ARGUMENT);
    EXPECT_EQ(s->slots(), 4u);
    const auto visitor = std::move(*Visit::create(*s));
    std::mt19937 random(5);
    const MadeUpExperts want(kShape, nullptr);
    for (uint32_t i = 0; i < 60; ++i) {
      const uint32_t layer = i % 3;
      const std::vector<int32_t> experts = some(random);
      ASSERT_TRUE(visitor->begin(s->next_step(), layer, experts).ok());
      size_t seen = 0;
      for (;;) {
        ASSERT_TRUE(s->set_budget((2 + random() % 60) * kBundle).ok());
        const auto wave = visitor->next(*pool, 1);
        ASSERT_TRUE(wave.ok()) << wave.status().text();
        if (wave->empty()) break;
        ASSERT_TRUE(s->set_budget((2 + random() % 60) * kBundle).ok());  // leases stay good
        for (const Visit::Lease& lease : *wave) {
          EXPECT_TRUE(want.check(layer, lease.expert, 0, lease.data).ok());
        }
        seen += wave->size();
      }
      EXPECT_EQ(seen, experts.size());
    }
    // With room for all nothing is read twice, and what has to go goes at once.
    ASSERT_TRUE(s->set_budget(48 * kBundle).ok());
    EXPECT_TRUE(s->holds_all());
    std::vector<int32_t> all;
    for (int32_t e = 0; e < 16; ++e) all.push_back(e);
    for (uint32_t round = 0; round < 2; ++round) {
      for (uint32_t layer = 0; layer < 3; ++layer) {
        ASSERT_TRUE(visit(*s, *visitor, *pool, layer, all).ok());
      }
    }
    const uint64_t loads = s->counters().loads;
    ASSERT_TRUE(visit(*s, *visitor, *pool, 2, all).ok());
    EXPECT_EQ(s->counters().loads, loads);
    const uint64_t evictions = s->counters().evictions;
    ASSERT_TRUE(s->set_budget(5 * kBundle).ok());
    EXPECT_EQ(s->counters().evictions, evictions + 48 - 3);  // of five slots two are the passage
  }
}

// Requests on eight threads, a budget that goes up and down, and a disk that fails.
TEST_F(StoreFaultsTest, Stress) {
  stress(0);
}

TEST_F(StoreFaultsTest, StressWithReadingAhead) {
  stress(2);
}

void StoreFaultsTest::stress(uint32_t ahead) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    std::atomic<uint32_t> reads = 0;
    std::atomic<bool> failing = true;  // what is read ahead may be on its way at any time
    fault_injection::set_read_fault([&](const std::filesystem::path&, uint64_t, uint64_t bytes) {
      if (!failing) return static_cast<int64_t>(bytes);
      const uint32_t n = reads.fetch_add(1);
      if (n % 37 == 0) return int64_t{-EIO};
      if (n % 37 == 1) return int64_t{-EAGAIN};
      return static_cast<int64_t>(bytes);
    });
    const auto s = store(way, 6, ahead);
    std::atomic<int> good = 0, failed = 0, running = 8;
    std::vector<std::thread> requests;
    for (uint32_t id = 0; id < 8; ++id) {
      requests.emplace_back([&, id] {
        const auto pool = std::move(*ThreadPool::create(1));
        const auto visitor = std::move(*Visit::create(*s));
        std::mt19937 random(id);
        for (uint32_t i = 0; i < 60; ++i) {
          const Status status =
              visit(*s, *visitor, *pool, static_cast<uint32_t>(random() % 3), some(random));
          if (status.ok()) {
            good.fetch_add(1);
          } else {
            EXPECT_EQ(status.code(), COLIBRI_IO) << status.text();
            failed.fetch_add(1);
          }
        }
        running.fetch_sub(1);
      });
    }
    for (uint64_t slots = 2; running > 0; slots = 2 + slots * 7 % 47) {
      EXPECT_TRUE(s->set_budget((ahead + slots) * kBundle).ok());
      std::this_thread::yield();
    }
    for (std::thread& request : requests) request.join();
    EXPECT_EQ(good + failed, 8 * 60);
    EXPECT_GT(good, 8 * 60 / 2);
    failing = false;
    const auto pool = std::move(*ThreadPool::create(1));
    const auto visitor = std::move(*Visit::create(*s));
    for (uint32_t layer = 0; layer < 3; ++layer) {
      EXPECT_TRUE(visit(*s, *visitor, *pool, layer, {0, 3, 6, 9, 12, 15}).ok());
    }
  }
}

}  // namespace
}  // namespace colibri::experts
