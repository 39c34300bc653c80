// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/tune.h"

#include <gtest/gtest.h>

namespace colibri::bench {
namespace {

TEST(Tune, TheFastestIsChosenIfItsGainIsNoNoise) {
  EXPECT_EQ(fastest({1.0, 0.5, 0.7}, 0), 1u);
  EXPECT_EQ(fastest({0.98, 1.0, 0.99}, 1), 1u);
  EXPECT_EQ(fastest({0.9, 1.0, 0.96}, 1), 0u);
  EXPECT_EQ(fastest({1.0}, 0), 0u);
}

}  // namespace
}  // namespace colibri::bench
