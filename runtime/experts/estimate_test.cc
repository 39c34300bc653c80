// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/estimate.h"

#include <gtest/gtest.h>

namespace colibri::experts {
namespace {

// 0.25 s and 0.5 s of computing a token, and 20 experts that take 0.1 s to load.
const DecodeCost kCost = {0.25, 0.5, 0.1, 20};

TEST(DecodeRate, InMemoryNothingLoads) {
  EXPECT_DOUBLE_EQ(decode_rate(kCost, 1), 1 / 0.75);
}

TEST(DecodeRate, WithoutHitsEveryExpertLoadsFirst) {
  EXPECT_DOUBLE_EQ(decode_rate(kCost, 0), 1 / (0.25 + 2 + 0.5));
}

TEST(DecodeRate, HitsComputeWhileMissesLoad) {
  // Half of the experts: 1 s of loading hides the 0.25 s of the hits.
  EXPECT_DOUBLE_EQ(decode_rate(kCost, 0.5), 1 / (0.25 + 1 + 0.25));
  // 0.1 s of loading hide behind 0.475 s.
  EXPECT_DOUBLE_EQ(decode_rate(kCost, 0.95), 1 / (0.25 + 0.475 + 0.025));
}

TEST(DecodeRate, MoreHitsAreNeverSlower) {
  double before = 0;
  for (int percent = 0; percent <= 100; ++percent) {
    const double rate = decode_rate(kCost, percent / 100.0);
    EXPECT_GE(rate, before - 1e-12) << percent;
    before = rate;
  }
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
