// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/random.h"

#include <gtest/gtest.h>

namespace colibri::engine {
namespace {

TEST(Random, IsTheChaCha20StreamOfRfc8439) {
  // RFC 8439, A.1 test vector 1: zero key, zero nonce, block 0 begins 76 b8 e0 ad a0 f1 3d 90.
  const uint64_t bits = 0x903df1a0ade0b876u;
  EXPECT_EQ(Random(0).next(), static_cast<double>(bits >> 11) * 0x1p-53);
}

TEST(Random, SeedsAndDrawsDiffer) {
  Random a(1), again(1), b(2);
  const double first = a.next();
  EXPECT_EQ(again.next(), first);
  EXPECT_NE(b.next(), first);
  EXPECT_NE(a.next(), first);
}

TEST(Random, IsUniformEnough) {
  Random random(7);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = random.next();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

}  // namespace
}  // namespace colibri::engine
