// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/summary.h"

#include <gtest/gtest.h>

namespace colibri::bench {
namespace {

TEST(Summary, PercentilesAreValuesByNearestRank) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(percentile(values, 50), 50);
  EXPECT_EQ(percentile(values, 95), 95);
  EXPECT_EQ(percentile(values, 99), 99);
  EXPECT_EQ(percentile(values, 100), 100);
  EXPECT_EQ(percentile({7}, 99), 7);
  EXPECT_EQ(percentile({1, 2, 3}, 50), 2);
  EXPECT_EQ(percentile({}, 50), 0);
}

TEST(Summary, SpreadHoldsTheEnds) {
  const Spread made = spread({3, 9, 1, 4});
  EXPECT_EQ(made.least, 1);
  EXPECT_EQ(made.median, 3);
  EXPECT_EQ(made.most, 9);
}

}  // namespace
}  // namespace colibri::bench
