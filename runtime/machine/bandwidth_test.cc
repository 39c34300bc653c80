// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/bandwidth.h"

#include <gtest/gtest.h>

namespace colibri::machine {
namespace {

TEST(ReadBandwidth, IsThatOfAnyMachine) {
  const auto pool = ThreadPool::create(2);
  ASSERT_TRUE(pool.ok());
  for (const uint64_t bytes : {1ull, 100'000ull, 5'000'000ull}) {
    const auto rate = measure_read_bandwidth(**pool, 2, bytes);
    ASSERT_TRUE(rate.ok()) << rate.status().text();
    EXPECT_GT(*rate, 1e6) << bytes;   // an emulated processor on a busy machine
    EXPECT_LT(*rate, 1e14) << bytes;  // no cache of any machine
  }
}

TEST(ReadBandwidth, RefusesWhatDoesNotFit) {
  const auto pool = ThreadPool::create(1);
  ASSERT_TRUE(pool.ok());
  const auto rate = measure_read_bandwidth(**pool, 1, uint64_t{1} << 55);
  ASSERT_FALSE(rate.ok());
  EXPECT_EQ(rate.status().code(), COLIBRI_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace colibri::machine
