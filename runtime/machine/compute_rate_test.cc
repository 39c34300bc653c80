// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/compute_rate.h"

#include <gtest/gtest.h>

namespace colibri::machine {
namespace {

// Every chain that this machine can run is run; one with a wrong instruction would end the process.
TEST(ComputeRates, AreThoseOfAnyMachine) {
  const auto pool = ThreadPool::create(2);
  ASSERT_TRUE(pool.ok());
  const ComputeRates rates = measure_compute_rates(**pool, 2, cpu_features());
  for (const double rate : {rates.int8, rates.f32}) {
    EXPECT_GT(rate, 1e5);   // an emulated processor on a busy machine
    EXPECT_LT(rate, 1e14);  // two cores of any processor
  }
}

TEST(ComputeRates, AreMeasuredWithoutAnyFeature) {
  const auto pool = ThreadPool::create(1);
  ASSERT_TRUE(pool.ok());
  const ComputeRates rates = measure_compute_rates(**pool, 1, {});
  EXPECT_GT(rates.int8, 0);
  EXPECT_GT(rates.f32, 0);
}

}  // namespace
}  // namespace colibri::machine
