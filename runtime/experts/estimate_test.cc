// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/estimate.h"

#include <gtest/gtest.h>

namespace colibri::experts {
namespace {

// 0.25 s and 0.5 s of computing a token, and 10 layers that need 2 experts each, of 0.1 s to load.
const DecodeCost kCost = {0.25, 0.5, 0.1, 0.1, 0, 10, 2};

TEST(DecodeRate, InMemoryNothingLoads) {
  EXPECT_DOUBLE_EQ(decode_rate(kCost, 1), 1 / 0.75);
}

TEST(DecodeRate, OfATraceWithoutMissesIsThatOfMemoryToTheLastBit) {
  DecodeCost cost = kCost;
  cost.expert_seconds = 0.7;
  for (uint64_t layers = 1; layers < 200; ++layers) {
    EXPECT_EQ(decode_rate(cost, MissCounts{layers, 0, 0}), decode_rate(cost, 1)) << layers;
  }
}

TEST(DecodeRate, WithoutExpertsThereIsNothingToLoad) {
  EXPECT_DOUBLE_EQ(decode_rate({0.25, 0, 0, 0, 0, 0, 0}, 1), 4);
}

TEST(DecodeRate, AMissComputesWhileTheNextLoads) {
  // 0.2 s of loading, and the second one's 0.025 s of computing, in each layer.
  EXPECT_DOUBLE_EQ(decode_rate(kCost, 0), 1 / (0.25 + 10 * 0.225));
}

TEST(DecodeRate, HitsComputeWhileMissesLoad) {
  // A quarter of the layers misses nothing, a quarter both; in the others the hit computes meanwhile.
  EXPECT_DOUBLE_EQ(decode_rate(kCost, 0.5),
                   1 / (0.25 + 10 * (0.25 * 0.05 + 0.5 * 0.125 + 0.25 * 0.225)));
}

TEST(DecodeRate, MissesThatComeTogetherLeaveLessToComputeMeanwhile) {
  // The same hits as above: half of the layers misses both, half none.
  EXPECT_DOUBLE_EQ(decode_rate(kCost, MissCounts{7, 0, 7}),
                   1 / (0.25 + 10 * (0.5 * 0.05 + 0.5 * 0.225)));
  EXPECT_DOUBLE_EQ(decode_rate(kCost, MissCounts{3, 6, 3}), decode_rate(kCost, 0.5));
}

TEST(DecodeRate, ALoneReadTakesLongerAndWhatArrivedIsChecked) {
  DecodeCost cost = kCost;
  cost.first_load_seconds = 0.15;
  cost.check_seconds = 0.01;
  EXPECT_DOUBLE_EQ(decode_rate(cost, 0), 1 / (0.25 + 10 * (0.25 + 0.01 + 0.025)));
  EXPECT_DOUBLE_EQ(decode_rate(cost, 1), 1 / 0.75);
}

TEST(DecodeRate, LoadsThatAreFasterThanComputingHideBehindIt) {
  DecodeCost cost = kCost;
  cost.first_load_seconds = cost.load_seconds = 0.001;
  EXPECT_NEAR(decode_rate(cost, 0.5), 1 / 0.75, 0.01);
}

TEST(DecodeRate, MoreHitsAreNeverSlower) {
  double before = 0;
  for (int percent = 0; percent <= 100; ++percent) {
    const double rate = decode_rate(kCost, percent / 100.0);
    EXPECT_GE(rate, before - 1e-12) << percent;
    before = rate;
  }
}

TEST(HitRate, IsTheShareOfTheExpertsThatWereThere) {
  EXPECT_DOUBLE_EQ(hit_rate({1, 1, 0}), 0.75);
  EXPECT_DOUBLE_EQ(hit_rate({0, 0, 5}), 0);
}

TEST(ExpectedHits, AreThoseOfEvenChoicesAndOfPublishedTraces) {
  EXPECT_DOUBLE_EQ(expected_hits(0.12).least, 0.12);
  EXPECT_NEAR(expected_hits(0.12).most, 0.53, 0.02);
  EXPECT_NEAR(expected_hits(0.22).most, 0.76, 0.02);
  EXPECT_DOUBLE_EQ(expected_hits(0).most, 0);
  EXPECT_DOUBLE_EQ(expected_hits(1).least, 1);
  EXPECT_DOUBLE_EQ(expected_hits(1).most, 1);
}

}  // namespace
}  // namespace colibri::experts
