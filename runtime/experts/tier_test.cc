// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/tier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "runtime/experts/made_up_experts.h"

namespace colibri::experts {
namespace {

using Experts = std::vector<int32_t>;

constexpr RoutingShape kShape = {.layers = 2, .experts = 8, .top_k = 2};

std::unique_ptr<Tier> tier(uint32_t slots, const RoutingShape& shape = kShape) {
  const std::vector<ExpertPlace> places(shape.layers, ExpertPlace::kBoth);
  auto made = Tier::create(shape, places, slots, {"lowest", &kLowest, nullptr});
  EXPECT_TRUE(made.ok()) << made.status().text();
  return std::move(*made);
}

Experts experts_of(const std::vector<Stay::Place>& places) {
  Experts all;
  for (const Stay::Place& place : places) all.push_back(static_cast<int32_t>(place.expert));
  return all;
}

class Visitor {
 public:
  explicit Visitor(Tier& tier) : tier_(tier), stay_(tier.shape()) {}
  ~Visitor() { tier_.end(stay_); }

  // Asks for experts; those that come are copied, unless they are to fail.
  const Stay& visit(uint32_t layer, const Experts& experts, bool copy = true) {
    const Status status = tier_.begin(stay_, step_++, layer, experts);
    EXPECT_TRUE(status.ok()) << status.text();
    for (size_t i = 0; copy && i < stay_.coming.size(); ++i) stay_.arrived(i);
    return stay_;
  }
  void end() { tier_.end(stay_); }

 private:
  Tier& tier_;
  Stay stay_;
  uint64_t step_ = 0;
};

TEST(Tier, FreeSlotsAreFilledEvenlyAndWhatWasCopiedIsThereLater) {
  const auto made = tier(4);
  Visitor visitor(*made);
  const Stay& stay = visitor.visit(0, {1, 3, 5});
  EXPECT_EQ(stay.elsewhere, (Experts{1, 3, 5}));
  EXPECT_EQ(experts_of(stay.coming), (Experts{1, 3}));  // half of the slots: the other layer's
  EXPECT_TRUE(made->has(0, 1));
  visitor.visit(1, {0, 1, 2});
  EXPECT_EQ(experts_of(stay.coming), (Experts{0, 1}));
  visitor.visit(0, {1, 2, 3});
  EXPECT_EQ(experts_of(stay.there), (Experts{1, 3}));
  EXPECT_EQ(stay.elsewhere, (Experts{2}));
  const Counters counters = made->counters();
  EXPECT_EQ(counters.hits, 2u);
  EXPECT_EQ(counters.misses, 7u);
  EXPECT_EQ(counters.loads, 4u);
  EXPECT_EQ(counters.evictions, 0u);
  EXPECT_EQ(made->uses()[1], 2u);
  EXPECT_EQ(made->uses()[5], 1u);
}

TEST(Tier, OnlyWhatIsAskedForMoreOftenTakesAPlace) {
  const auto made = tier(2);
  Visitor visitor(*made);
  const Stay& stay = visitor.visit(0, {0});
  visitor.visit(1, {0});
  visitor.visit(0, {4});
  EXPECT_TRUE(stay.coming.empty()) << "both have one use";
  visitor.visit(0, {4, 5});
  EXPECT_EQ(experts_of(stay.coming), (Experts{4})) << "two uses, more than the other";
  EXPECT_FALSE(made->has(0, 0));
  EXPECT_EQ(made->counters().evictions, 1u);
  visitor.visit(0, {4});
  EXPECT_EQ(experts_of(stay.there), (Experts{4}));
  EXPECT_TRUE(stay.coming.empty());
}

TEST(Tier, WhatComputesNowIsNoVictim) {
  const auto made = tier(2);
  Visitor first(*made), second(*made);
  const Stay& stay = second.visit(0, {0});
  second.visit(1, {0});
  second.end();
  first.visit(0, {0});
  first.visit(1, {0});  // leased from here on
  for (int i = 0; i < 5; ++i) second.visit(0, {4});
  second.end();
  EXPECT_FALSE(made->has(0, 0));
  EXPECT_TRUE(made->has(1, 0));
  for (int i = 0; i < 9; ++i) second.visit(1, {5, 6}, false);
  EXPECT_TRUE(made->has(1, 0)) << "it computes";
  first.end();
  second.visit(1, {5, 6});
  EXPECT_EQ(stay.coming.size(), 1u);
}

TEST(Tier, WhatCouldNotBeCopiedIsNotThere) {
  const auto made = tier(2);
  Visitor visitor(*made);
  const Stay& stay = visitor.visit(0, {2}, false);
  EXPECT_EQ(experts_of(stay.coming), (Experts{2}));
  visitor.end();
  EXPECT_FALSE(made->has(0, 2));
  EXPECT_EQ(made->counters().loads, 0u);
  visitor.visit(0, {3});
  EXPECT_EQ(experts_of(stay.coming), (Experts{3})) << "its slot is free again";
  visitor.visit(0, {3});
  EXPECT_EQ(experts_of(stay.there), (Experts{3}));
}

TEST(Tier, LayersMayBeThereForGoodOrNever) {
  constexpr RoutingShape kThree = {.layers = 3, .experts = 8, .top_k = 2};
  const std::vector<ExpertPlace> places = {ExpertPlace::kDevice, ExpertPlace::kHost,
                                           ExpertPlace::kBoth};
  auto made = Tier::create(kThree, places, 2, {"lowest", &kLowest, nullptr});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ((*made)->slots(), 10u);
  Visitor visitor(**made);
  const Stay& stay = visitor.visit(0, {2, 7});
  EXPECT_EQ(experts_of(stay.there), (Experts{2, 7}));
  EXPECT_EQ(stay.there[1].slot, (*made)->fixed_slot(0, 7));
  for (int i = 0; i < 3; ++i) {
    visitor.visit(1, {0, 1});
    EXPECT_EQ(stay.elsewhere, (Experts{0, 1}));
    EXPECT_TRUE(stay.coming.empty());
  }
  visitor.visit(2, {4, 5, 6});
  EXPECT_EQ(experts_of(stay.coming), (Experts{4, 5}));
  // However often another is asked for, only what shares its slot goes.
  for (int i = 0; i < 20; ++i) visitor.visit(2, {6, 7});
  EXPECT_EQ((*made)->counters().evictions, 2u);
  visitor.visit(0, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(stay.there.size(), 8u);
  EXPECT_EQ((*made)->uses()[8], 3u);
}

// What was hot long ago makes room for what is hot now.
TEST(Tier, UsesAge) {
  const auto made = tier(1, {.layers = 1, .experts = 4, .top_k = 1});
  Visitor visitor(*made);
  for (int i = 0; i < 2000; ++i) visitor.visit(0, {0});
  int until = 0;
  for (; until < 4000 && made->has(0, 0); ++until) visitor.visit(0, {1});
  EXPECT_LT(until, 1000) << "without ageing it would take 2000 visits";
  EXPECT_TRUE(made->has(0, 1));
}

// Visitors in parallel: a slot is never written to while somebody computes with it.
TEST(Tier, ParallelVisitorsNeverShareWhatIsWritten) {
  constexpr RoutingShape kWide = {.layers = 3, .experts = 16, .top_k = 4};
  const auto made = tier(9, kWide);
  std::vector<std::atomic<int>> readers(9), writers(9);
  std::vector<std::atomic<uint32_t>> content(9);
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    Stay stay(kWide);
    for (int step = 0; step < 3000; ++step) {
      const auto layer = static_cast<uint32_t>(step % 3);
      std::set<int32_t> chosen;
      while (chosen.size() < 4)
        chosen.insert(static_cast<int32_t>(random() % 16 * (random() % 16) / 16));
      const Status status = made->begin(stay, static_cast<uint64_t>(step), layer,
                                        Experts(chosen.begin(), chosen.end()));
      ASSERT_TRUE(status.ok()) << status.text();
      for (const auto& place : stay.there) {
        ++readers[place.slot];
        EXPECT_EQ(writers[place.slot], 0);
        EXPECT_EQ(content[place.slot], layer * 16 + place.expert);
      }
      for (size_t i = 0; i < stay.coming.size(); ++i) {
        const auto& place = stay.coming[i];
        EXPECT_EQ(++writers[place.slot], 1);
        EXPECT_EQ(readers[place.slot], 0);
        if (random() % 8 == 0) continue;  // a copy that failed
        content[place.slot] = layer * 16 + place.expert;
        stay.arrived(i);
      }
      for (const auto& place : stay.there) --readers[place.slot];
      for (const auto& place : stay.coming) --writers[place.slot];
      if (random() % 4 == 0) made->end(stay);
    }
    made->end(stay);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(made->counters().hits, 0u);
  EXPECT_GT(made->counters().evictions, 0u);
}

}  // namespace
}  // namespace colibri::experts
