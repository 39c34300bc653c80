// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace colibri {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

// |got - want| in units of the last place of a float of want's size (of the smallest subnormal
// below the normal range).
double ulps(float got, double want) {
  if (std::isnan(want) || std::isinf(static_cast<float>(want))) {
    const float rounded = static_cast<float>(want);
    return (std::isnan(got) && std::isnan(rounded)) || got == rounded ? 0 : HUGE_VAL;
  }
  const int exponent = want == 0 ? -126 : std::max(std::ilogb(want), -126);
  return std::fabs(got - want) / std::ldexp(1.0, exponent - 23);
}

// Every 9973rd float: all exponents, both signs, NaNs and infinities among them.
template <typename F>
void for_many_floats(F f) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 9973)
    f(std::bit_cast<float>(static_cast<uint32_t>(bits)));
}

TEST(PortableMath, ExpIsCloseEverywhere) {
  double worst = 0;
  for_many_floats([&](float x) {
    worst = std::max(worst, ulps(portable_exp(x), std::exp(static_cast<double>(x))));
  });
  for (float x = -105; x < 90; x += 0.00137f) {
    worst = std::max(worst, ulps(portable_exp(x), std::exp(static_cast<double>(x))));
  }
  EXPECT_LE(worst, 1.0);
}

TEST(PortableMath, ExpOfSpecialValues) {
  EXPECT_EQ(portable_exp(0.0f), 1.0f);
  EXPECT_EQ(portable_exp(-0.0f), 1.0f);
  EXPECT_EQ(portable_exp(-kInfinity), 0.0f);
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_EQ(portable_exp(88.75f), kInfinity);
  EXPECT_LT(portable_exp(88.72f), kInfinity);
  EXPECT_EQ(portable_exp(-103.0f), kSmallest);
  EXPECT_EQ(portable_exp(-104.0f), 0.0f);
  EXPECT_TRUE(std::isnan(portable_exp(kNaN)));
}

// docs/numerics.md gives these bytes: a change of them breaks the promise.
TEST(PortableMath, BytesAreAsDocumented) {
  EXPECT_EQ(std::bit_cast<uint32_t>(portable_exp(1.0f)), 0x402df854u);
  EXPECT_EQ(std::bit_cast<uint32_t>(portable_exp(-1.0f)), 0x3ebc5ab2u);
  uint32_t hash = 2166136261u;  // FNV-1a over the words
  auto add = [&](uint32_t word) { hash = (hash ^ word) * 16777619u; };
  for_many_floats([&](float x) {
    if (std::isnan(x)) return;
    add(std::bit_cast<uint32_t>(portable_exp(x)));
    if (x > 0) add(std::bit_cast<uint32_t>(portable_log(x)));
    if (x > 0) add(std::bit_cast<uint32_t>(portable_pow(x, 0.37f)));
    double sine;
    double cosine;
    portable_sincos(std::fmod(x, 1e6f), &sine, &cosine);
    if (std::isnan(sine)) return;
    add(static_cast<uint32_t>(std::bit_cast<uint64_t>(sine)));
    add(static_cast<uint32_t>(std::bit_cast<uint64_t>(cosine)));
  });
  EXPECT_EQ(hash, 4268506480u);
}

TEST(PortableMath, LogIsCloseEverywhere) {
  double worst = 0;
  for_many_floats([&](float x) {
    worst = std::max(worst, ulps(portable_log(x), std::log(static_cast<double>(x))));
  });
  for (float x = 0.5f; x < 2; x += 0.0000137f) {
    worst = std::max(worst, ulps(portable_log(x), std::log(static_cast<double>(x))));
  }
  EXPECT_LE(worst, 1.0);
}

TEST(PortableMath, LogOfSpecialValues) {
  EXPECT_EQ(portable_log(1.0f), 0.0f);
  EXPECT_EQ(portable_log(0.0f), -kInfinity);
  EXPECT_EQ(portable_log(-0.0f), -kInfinity);
  EXPECT_EQ(portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log(-1.0f)));
  EXPECT_TRUE(std::isnan(portable_log(kNaN)));
}

TEST(PortableMath, PowIsClose) {
  double worst = 0;
  for (float x : {1e-40f, 1e-10f, 0.1f, 0.99999f, 1.00001f, 1.5f, 10000.0f, 1e6f, 3e38f}) {
    for (float y = -40; y < 40; y += 0.0173f) {
      worst = std::max(worst, ulps(portable_pow(x, y),
                                   std::pow(static_cast<double>(x), static_cast<double>(y))));
    }
  }
  EXPECT_LE(worst, 1.0);
}

TEST(PortableMath, PowOfSpecialValuesIsAsInC) {
  const float values[] = {0.0f,   -0.0f,       1.0f,      -1.0f,      2.0f, -2.0f,
                          3.0f,   -3.0f,       0.5f,      -0.5f,      1e9f, -1e9f,
                          1e-40f, 16777217.0f, kInfinity, -kInfinity, kNaN};
  for (float x : values) {
    for (float y : values) {
      EXPECT_LE(ulps(portable_pow(x, y), std::pow(static_cast<double>(x), static_cast<double>(y))),
                1.0)
          << x << "^" << y;
    }
  }
  EXPECT_TRUE(std::signbit(portable_pow(-0.0f, 3.0f)));
  EXPECT_FALSE(std::signbit(portable_pow(-0.0f, 2.0f)));
}

TEST(PortableMath, SineAndCosineAreClose) {
  double worst = 0;
  auto check = [&](double angle) {
    double sine;
    double cosine;
    portable_sincos(angle, &sine, &cosine);
    const long double true_sine = std::sin(static_cast<long double>(angle));
    const long double true_cosine = std::cos(static_cast<long double>(angle));
    auto error = [](double got, long double want) {
      return static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, std::ilogb(want) - 52));
    };
    if (true_sine != 0) worst = std::max(worst, error(sine, true_sine));
    worst = std::max(worst, error(cosine, true_cosine));
  };
  for (double angle = -20; angle < 20; angle += 0.00037) check(angle);
  for (double angle = 1; angle < 0x1p49; angle *= 1.00173) check(angle);
  for (int n = 1; n < 3000; ++n) check(n * 1.5707963267948966);  // next to the zeros
  for (double angle = 1e-300; angle < 1; angle *= 3) check(angle);
  // On x86 long double has 64 bits, so this measures; where it is a double it compares with libm.
  EXPECT_LE(worst, 1.0);
}

TEST(PortableMath, SineAndCosineOfSpecialValues) {
  double sine;
  double cosine;
  portable_sincos(0, &sine, &cosine);
  EXPECT_EQ(sine, 0);
  EXPECT_EQ(cosine, 1);
  for (double angle : {HUGE_VAL, -HUGE_VAL, std::nan(""), 0x1p50}) {
    portable_sincos(angle, &sine, &cosine);
    EXPECT_TRUE(std::isnan(sine) && std::isnan(cosine));
  }
}

}  // namespace
}  // namespace colibri
