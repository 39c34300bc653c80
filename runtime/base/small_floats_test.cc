// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/small_floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace colibri {
namespace {

// The value of an f16 from its definition.
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

TEST(Numbers, EveryF16IsReadExactlyAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float x = f32_from_f16(half);
    if ((bits & 0x7FFF) > 0x7C00) {
      EXPECT_TRUE(std::isnan(x));
      EXPECT_TRUE(std::isnan(f32_from_f16(f16_from_f32(x))));
      continue;
    }
    if ((bits & 0x7FFF) == 0x7C00) {
      EXPECT_TRUE(std::isinf(x));
    } else {
      EXPECT_EQ(static_cast<double>(x), half_value(half));
    }
    EXPECT_EQ(f16_from_f32(x), half);
  }
}

TEST(Numbers, F16IsRoundedToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {  // between each f16 and the next
    const double low = half_value(static_cast<uint16_t>(bits));
    const double high = half_value(static_cast<uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);  // exact
    EXPECT_EQ(f16_from_f32(middle), bits + bits % 2);
    EXPECT_EQ(f16_from_f32(std::nextafter(middle, 0.0f)), bits);
    EXPECT_EQ(f16_from_f32(-std::nextafter(middle, 1e9f)), (bits + 1) | 0x8000);
  }
  EXPECT_EQ(f16_from_f32(65519.996f), 0x7BFF);
  EXPECT_EQ(f16_from_f32(65520.0f), 0x7C00);
  EXPECT_EQ(f16_from_f32(3e38f), 0x7C00);
  EXPECT_EQ(f16_from_f32(-0.0f), 0x8000);
}

TEST(Numbers, Bf16IsRoundedToNearestEven) {
  EXPECT_EQ(bf16_from_f32(1.0f), 0x3F80);
  EXPECT_EQ(bf16_from_f32(0x1.010000p+0f), 0x3F80);  // a tie
  EXPECT_EQ(bf16_from_f32(0x1.030000p+0f), 0x3F82);  // a tie
  EXPECT_EQ(bf16_from_f32(0x1.010002p+0f), 0x3F81);
  EXPECT_EQ(bf16_from_f32(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(f32_from_bf16(bf16_from_f32(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(f32_from_bf16(0x0001), 0x1p-133f);
}

}  // namespace
}  // namespace colibri
