// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/portable_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/base/exp_constants.h"

namespace colibri {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// 2^n for a result that is a normal number.
float power_of_two(int n) {
  return std::bit_cast<float>((n + 127) << 23);
}
double power_of_two_f64(int n) {
  return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

// ln 2 as the sum of two doubles.
constexpr double kLn2HighF64 = 0x1.62e42fefa39efp-1;
constexpr double kLn2LowF64 = 0x1.abc9e3b39803fp-56;

// ln x for a positive finite x: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and ln m = 2 atanh(s), s
// = (m - 1) / (m + 1), whose series ends below half an ulp of double at s^19 because |s| < 0.172.
double log_f64(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    exponent += 1;
  }
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double series = 1.0 / 19;
  for (int k = 17; k >= 3; k -= 2) series = std::fma(series, square, 1.0 / k);
  const double log_m = std::fma(2 * s * square, series, 2 * s);
  return std::fma(exponent, kLn2HighF64, std::fma(exponent, kLn2LowF64, log_m));
}

// e^x for |x| <= 200: Taylor's series to r^13 for |r| <= ln(2) / 2.
double exp_f64(double x) {
  const double n = std::rint(x * 0x1.71547652b82fep+0);
  const double r = std::fma(-n, kLn2LowF64, std::fma(-n, kLn2HighF64, x));
  double factorial = 6227020800.0;  // 13!
  double series = 1 / factorial;
  for (int k = 13; k >= 1; --k) {
    factorial /= k;
    series = std::fma(series, r, 1 / factorial);
  }
  return series * power_of_two_f64(static_cast<int>(n));
}

// x^y for a positive finite x and a finite y; exponents beyond float's range are cut where the
// result is 0 or infinity.
float pow_positive(float x, float y) {
  const double exponent = static_cast<double>(y) * log_f64(x);
  if (exponent > 100) return kInfinity;
  if (exponent < -120) return 0;
  return static_cast<float>(exp_f64(exponent));
}

bool is_odd_integer(float y) {
  if (std::fabs(y) >= 0x1p24f) return false;  // from there on every float is even
  const int32_t integer = static_cast<int32_t>(y);
  return static_cast<float>(integer) == y && (integer & 1) != 0;
}

struct Pair {
  double high, low;
};
// a + b without any error (Knuth's two-sum).
Pair exact_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// sin(r + tail) and cos(r + tail) for |r| <= pi / 4: Taylor's series to r^17 and r^18.
double sine_series(double r, double tail) {
  const double square = r * r;
  double factorial = 355687428096000.0;  // 17!
  double series = 1 / factorial;
  for (int k = 15; k >= 3; k -= 2) {
    factorial /= (k + 1) * (k + 2);
    series = std::fma(-series, square, 1 / factorial);
  }
  // r - r^3 series + tail cos(r)
  const double cube_part = std::fma(-square * r, series, tail * std::fma(-0.5, square, 1.0));
  return r + cube_part;
}
double cosine_series(double r, double tail) {
  const double square = r * r;
  double factorial = 6402373705728000.0;  // 18!
  double series = 1 / factorial;
  for (int k = 16; k >= 4; k -= 2) {
    factorial /= (k + 1) * (k + 2);
    series = std::fma(-series, square, 1 / factorial);
  }
  // 1 - r^2 / 2 + r^4 series - tail sin(r), the rounding error of 1 - r^2 / 2 carried along
  const double half = 0.5 * square;
  const double head = 1 - half;
  const double lost = (1 - head) - half;
  return head + (lost + std::fma(square * square, series, -tail * r));
}

}  // namespace

float portable_exp(float x) {
  using namespace exp_constants;
  if (x != x) return x;
  x = x < kHighest ? x : kHighest;
  x = x > kLowest ? x : kLowest;
  const float n = std::rint(x * kLog2E);
  const float r = std::fma(-n, kLn2Low, std::fma(-n, kLn2High, x));
  float p = std::fma(kC6, r, kC5);
  p = std::fma(p, r, kC4);
  p = std::fma(p, r, kC3);
  p = std::fma(p, r, kC2);
  p = std::fma(p, r, 1.0f);
  p = std::fma(p, r, 1.0f);
  // 2^n in two factors: each is a normal number although 2^n may not be, and only the second
  // product can round.
  const int exponent = static_cast<int>(n);
  const int half = exponent >> 1;
  return p * power_of_two(half) * power_of_two(exponent - half);
}

float portable_log(float x) {
  if (x != x || x == kInfinity) return x;
  if (x == 0) return -kInfinity;
  if (x < 0) return kNaN;
  return static_cast<float>(log_f64(x));
}

float portable_pow(float x, float y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNaN;
  const bool odd = is_odd_integer(y);
  const float magnitude = std::fabs(x);
  if (std::fabs(y) == kInfinity) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? kInfinity : 0.0f;
  }
  float result;
  if (magnitude == 0) {
    result = y > 0 ? 0.0f : kInfinity;
  } else if (magnitude == kInfinity) {
    result = y > 0 ? kInfinity : 0.0f;
  } else {
    const bool integer =
        std::fabs(y) >= 0x1p24f || static_cast<float>(static_cast<int32_t>(y)) == y;
    if (x < 0 && !integer) return kNaN;
    result = pow_positive(magnitude, y);
  }
  return odd && std::signbit(x) ? -result : result;
}

void portable_sincos(double angle, double* sine, double* cosine) {
  if (!(std::fabs(angle) < 0x1p50)) {
    *sine = *cosine = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  // angle = n pi/2 + r + tail (Cody and Waite), pi/2 as the sum of three doubles. The first
  // difference is exact, the products are split exactly by fma, and the sums keep their rounding
  // errors.
  constexpr double kPiHalf[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                 -0x1.f1976b7ed8fbcp-110};
  const double n = std::rint(angle * 0x1.45f306dc9c883p-1);
  const double first = n * kPiHalf[0];
  const double second = n * kPiHalf[1];
  const Pair a = exact_sum(angle - first, -std::fma(n, kPiHalf[0], -first));
  const Pair b = exact_sum(a.high, -second);
  const double rest = a.low + b.low - std::fma(n, kPiHalf[1], -second) - n * kPiHalf[2];
  const Pair reduced = exact_sum(b.high, rest);

  const double s = sine_series(reduced.high, reduced.low);
  const double c = cosine_series(reduced.high, reduced.low);
  switch (static_cast<int64_t>(n) & 3) {
    case 0:
      *sine = s;
      *cosine = c;
      break;
    case 1:
      *sine = c;
      *cosine = -s;
      break;
    case 2:
      *sine = -s;
      *cosine = -c;
      break;
    default:
      *sine = -c;
      *cosine = s;
      break;
  }
}

const colibri_math& portable_math_table() {
  static constexpr colibri_math kTable = {sizeof(colibri_math), portable_exp, portable_log,
                                          portable_pow, portable_sincos};
  return kTable;
}

}  // namespace colibri
