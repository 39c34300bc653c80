// SPDX-License-Identifier: Apache-2.0
// What is read ahead changes neither what a policy is asked nor what it answers, gives no wrong byte,
// and fails nobody who does not ask for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>
#include <thread>

#include "runtime/experts/made_up_experts.h"
#include "runtime/experts/replay.h"

namespace colibri::experts {
namespace {

// Drops the lowest key that it may, refuses every seventh time, and remembers all that it was told.
std::vector<uint64_t> told;
uint32_t asked = 0;

void tell(uint64_t what, uint64_t key) {
  told.push_back(what << 32 | key);
}

const colibri_cache_policy_1 kTold = {
    .struct_size = sizeof(colibri_cache_policy_1),
    .state_bytes = [](const colibri_cache_shape*, const colibri_host*) { return uint64_t{8}; },
    .create = [](const colibri_cache_shape*, const colibri_host*, void*,
                 colibri_error*) -> colibri_status {
      told.clear();
      asked = 0;
      return COLIBRI_OK;
    },
    .on_access =
        [](void*, uint64_t step, const uint32_t* keys, const uint8_t* resident, uint32_t n,
           int32_t) {
          tell(1, step);
          for (uint32_t i = 0; i < n; ++i) tell(2 + resident[i], keys[i]);
        },
    .on_insert = [](void*, uint32_t key) { tell(4, key); },
    .victims = [](void*, uint32_t, const uint64_t* evictable, uint32_t,
                  uint32_t* keys) -> uint32_t {
      tell(5, evictable[0]);
      if (++asked % 7 == 0) return 0;
      for (keys[0] = 0; keys[0] < 64; ++keys[0]) {
        if ((evictable[0] >> keys[0] & 1) != 0) return 1;
      }
      return 0;
    },
    .on_evict = [](void*, uint32_t key) { tell(6, key); },
    .resize = [](void*, uint32_t, uint32_t) -> colibri_status { return COLIBRI_OK; },
};
const PolicyPlugin kPolicy = {"told", &kTold, nullptr};

constexpr StoreShape kShape = {{.layers = 3, .experts = 16, .top_k = 4}, kBundle, 0};

using Experts = std::vector<int32_t>;

// Chunks of a prompt, and single tokens between them.
RouteTrace made_up_trace(uint32_t seed) {
  std::mt19937 random(seed);
  RouteTrace trace;
  trace.shape = kShape;
  for (uint64_t step = 0; step < 24; ++step) {
    const bool chunk = random() % 3 != 0;
    for (uint32_t layer = 0; layer < kShape.layers; ++layer) {
      const uint64_t begin = trace.experts.size();
      for (int32_t e = 0; e < 16; ++e) {
        if (chunk ? random() % 8 != 0 : random() % 4 == 0) trace.experts.push_back(e);
      }
      trace.visits.push_back({step, layer, chunk ? 64u : 1u, begin, trace.experts.size()});
    }
  }
  return trace;
}

class ReadAheadTest : public testing::Test {
 protected:
  ~ReadAheadTest() override { fault_injection::set_read_fault({}); }

  std::unique_ptr<Store> store(const Way& way, uint64_t slots) {
    auto made = Store::create(kShape, slots * kBundle, kPolicy,
                              std::make_unique<MadeUpExperts>(kShape, way.file), way.reading);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }

  // Looks at every byte that the store gives.
  Status visit(Visit& visitor, uint64_t step, uint32_t layer, std::span<const int32_t> experts,
               std::optional<uint32_t> ahead = {}) {
    const MadeUpExperts want(kShape, nullptr);
    COLIBRI_TRY(visitor.begin(step, layer, experts));
    if (ahead) visitor.read_ahead(*ahead);
    Experts seen;
    for (;;) {
      COLIBRI_ASSIGN(const auto wave, visitor.next(*pool_, 2));
      if (wave.empty()) break;
      for (const Visit::Lease& lease : wave) {
        EXPECT_TRUE(want.check(layer, lease.expert, 0, lease.data).ok());
        seen.push_back(static_cast<int32_t>(lease.expert));
      }
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, Experts(experts.begin(), experts.end()));
    return {};
  }

  // Of a store with four slots, two of them the passage, whose other two hold experts 0 and 1 of
  // layer 0: a visit to layer 0, while whose last experts compute 0 and 1 of layer 1 are read.
  std::unique_ptr<Visit> with_two_ahead(Store& made) {
    auto visitor = std::move(*Visit::create(made));
    EXPECT_TRUE(visit(*visitor, 0, 0, all_, 1).ok());
    EXPECT_EQ(made.counters().ahead, 2u);
    EXPECT_EQ(made.counters().ahead_unused, 0u);
    return visitor;
  }

  // Nothing is lost: the floor is two slots, and each expert passes through.
  void all_slots_work(Store& made) {
    const auto visitor = std::move(*Visit::create(made));
    for (uint32_t layer = 0; layer < kShape.layers; ++layer) {
      EXPECT_TRUE(visit(*visitor, 9, layer, all_).ok());
    }
    const auto other = std::move(*Visit::create(made));
    EXPECT_TRUE(visit(*other, 9, 2, all_, 0).ok());
    EXPECT_EQ(made.counters().ahead - ahead_before_, 2u);
    other->end();
  }

  static fault_injection::ReadFault fails(uint32_t key) {
    return [key](const std::filesystem::path&, uint64_t offset, uint64_t bytes) {
      return offset / kBundle == key ? -EIO : static_cast<int64_t>(bytes);
    };
  }

  const MadeUpFile file_{kShape};
  const std::unique_ptr<ThreadPool> pool_ = std::move(*ThreadPool::create(2));
  const Experts all_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  uint64_t ahead_before_ = 0;
};

TEST_F(ReadAheadTest, ThePolicyIsToldWhatItIsToldWithout) {
  for (const Way& way : file_.ways()) {
    for (const uint64_t slots : {2, 3, 5, 9, 17, 30, 46}) {
      SCOPED_TRACE(way.name + ", slots " + std::to_string(slots));
      const RouteTrace trace = made_up_trace(static_cast<uint32_t>(slots));
      const auto replayed = replay(trace, slots, kPolicy);
      ASSERT_TRUE(replayed.ok()) << replayed.status().text();
      const std::vector<uint64_t> want = told;
      for (const bool right : {true, false}) {
        const auto made = store(way, slots);
        const auto visitor = std::move(*Visit::create(*made));
        for (const RouteTrace::Visit& each : trace.visits) {
          const uint32_t next = (each.layer + (right ? 1 : 2)) % kShape.layers;
          const Status status =
              visit(*visitor, each.step, each.layer, trace.experts_of(each), next);
          ASSERT_TRUE(status.ok()) << status.text();
        }
        EXPECT_TRUE(told == want);
        visitor->end();
        const Counters live = made->counters();
        EXPECT_EQ(live.hits, replayed->counters.hits);
        EXPECT_EQ(live.misses, replayed->counters.misses);
        EXPECT_EQ(live.loads, replayed->counters.loads);
        EXPECT_EQ(live.evictions, replayed->counters.evictions);
        if (slots < 46) {  // there the guard holds
          EXPECT_GT(live.ahead, 20u);
        }
        EXPECT_LE(live.ahead_unused, live.ahead);
        if (right) {
          EXPECT_LT(live.ahead_unused, live.ahead);
        } else {
          EXPECT_EQ(live.ahead_unused, live.ahead);
        }
      }
    }
  }
}

TEST_F(ReadAheadTest, WhatIsAskedForIsReadOnce) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto made = store(way, 4);
    std::atomic<uint32_t> reads = 0;
    fault_injection::set_read_fault([&](const std::filesystem::path&, uint64_t, uint64_t bytes) {
      reads.fetch_add(1);
      return static_cast<int64_t>(bytes);
    });
    const auto visitor = with_two_ahead(*made);
    EXPECT_TRUE(visit(*visitor, 0, 1, all_).ok());
    EXPECT_EQ(reads, 32u);
    EXPECT_EQ(made->counters().loads, 32u);
    EXPECT_EQ(made->counters().ahead_unused, 0u);
  }
}

TEST_F(ReadAheadTest, WhatNobodyAsksForIsCountedAndItsFailureIsNobodys) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto made = store(way, 4);
    fault_injection::set_read_fault(fails(16 + 0));
    const auto visitor = with_two_ahead(*made);
    const Experts others = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_TRUE(visit(*visitor, 0, 1, others).ok());
    EXPECT_EQ(made->counters().ahead_unused, 1u);
    // Whoever asks for it does fail, after the read was tried again; and then goes on.
    EXPECT_EQ(visit(*visitor, 1, 1, all_).code(), COLIBRI_IO);
    fault_injection::set_read_fault({});
    EXPECT_TRUE(visit(*visitor, 2, 1, all_).ok());
    ahead_before_ = made->counters().ahead;
    all_slots_work(*made);
  }
}

TEST_F(ReadAheadTest, OneThatIsAskedForIsTriedAgain) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto made = store(way, 4);
    std::atomic<uint32_t> reads = 0;
    fault_injection::set_read_fault(
        [&](const std::filesystem::path&, uint64_t offset, uint64_t bytes) {
          if (offset / kBundle != 16 || reads.fetch_add(1) > 0) return static_cast<int64_t>(bytes);
          return int64_t{-EIO};
        });
    auto visitor = with_two_ahead(*made);
    EXPECT_TRUE(visit(*visitor, 0, 1, all_).ok());
    EXPECT_EQ(reads, 2u);
    fault_injection::set_read_fault(fails(32 + 1));
    EXPECT_TRUE(visit(*visitor, 1, 1, all_, 2).ok());
    EXPECT_EQ(visit(*visitor, 1, 2, all_).code(), COLIBRI_IO);
    fault_injection::set_read_fault({});
    ahead_before_ = made->counters().ahead;
    all_slots_work(*made);
  }
}

TEST_F(ReadAheadTest, AnEndGivesBackWhatWasLent) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    const auto made = store(way, 4);
    auto visitor = with_two_ahead(*made);
    visitor->end();
    EXPECT_EQ(made->counters().ahead_unused, 2u);
    ahead_before_ = 2;
    all_slots_work(*made);
    visitor.reset();
    // So does a visit that asks for little, and a budget that changes meanwhile.
    visitor = std::move(*Visit::create(*made));
    EXPECT_TRUE(visit(*visitor, 1, 1, all_, 2).ok());
    ASSERT_TRUE(made->set_budget(48 * kBundle).ok());
    EXPECT_TRUE(visit(*visitor, 1, 2, all_).ok());
    EXPECT_TRUE(made->holds_all());
    ASSERT_TRUE(made->set_budget(4 * kBundle).ok());
    ahead_before_ = made->counters().ahead;
    all_slots_work(*made);
  }
}

TEST_F(ReadAheadTest, OthersGetASlotAndAllIsRightOnADiskThatFails) {
  for (const Way& way : file_.ways()) {
    SCOPED_TRACE(way.name);
    std::atomic<uint32_t> reads = 0;
    fault_injection::set_read_fault([&](const std::filesystem::path&, uint64_t, uint64_t bytes) {
      const uint32_t n = reads.fetch_add(1);
      return n % 41 <= 1 ? int64_t{-EIO} : static_cast<int64_t>(bytes);
    });
    const auto made = store(way, 6);
    std::atomic<int> good = 0, failed = 0, running = 8;
    std::vector<std::thread> requests;
    for (uint32_t id = 0; id < 8; ++id) {
      requests.emplace_back([&, id] {
        const auto pool = std::move(*ThreadPool::create(1));
        const auto visitor = std::move(*Visit::create(*made));
        const MadeUpExperts want(kShape, nullptr);
        std::mt19937 random(id);
        for (uint32_t i = 0; i < 60; ++i) {
          const uint32_t layer = i % kShape.layers;
          Experts experts;
          for (int32_t e = 0; e < 16; ++e) {
            if (random() % (id < 4 ? 12 : 2) != 0) experts.push_back(e);
          }
          Status status = visitor->begin(made->next_step(), layer, experts);
          if (id != 7) visitor->read_ahead((layer + 1) % kShape.layers);
          for (bool more = true; status.ok() && more;) {
            const auto wave = visitor->next(*pool, 1);
            status = wave.status();
            more = wave.ok() && !wave->empty();
            if (!more) break;
            for (const Visit::Lease& lease : *wave) {
              EXPECT_TRUE(want.check(layer, lease.expert, 0, lease.data).ok());
            }
            if (random() % 40 == 0) visitor->end();
          }
          (status.ok() ? good : failed).fetch_add(1);
          EXPECT_TRUE(status.ok() || status.code() == COLIBRI_IO) << status.text();
        }
        running.fetch_sub(1);
      });
    }
    for (uint64_t slots = 2; running > 0; slots = 2 + slots * 7 % 47) {
      EXPECT_TRUE(made->set_budget(slots * kBundle).ok());
      std::this_thread::yield();
    }
    for (std::thread& request : requests) request.join();
    EXPECT_EQ(good + failed, 8 * 60);
    EXPECT_GT(good, 0);
    fault_injection::set_read_fault({});
    ASSERT_TRUE(made->set_budget(4 * kBundle).ok());
    const Counters counters = made->counters();
    EXPECT_GE(counters.ahead, counters.ahead_unused);
    ahead_before_ = counters.ahead;
    all_slots_work(*made);
  }
}

}  // namespace
}  // namespace colibri::experts
