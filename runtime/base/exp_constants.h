// SPDX-License-Identifier: Apache-2.0
// The numbers of exp(float). The scalar function is portable_math.cc, the vector form is
// plugins/cpu_common/vector_math.h; both do the same operations on these numbers
// (docs/numerics.md).
#pragma once

namespace colibri::exp_constants {

// Outside of [kLowest, kHighest] the result is 0 or infinity, and so it is at the borders.
inline constexpr float kHighest = 89.0f;
inline constexpr float kLowest = -104.0f;
inline constexpr float kLog2E = 0x1.715476p+0f;
// ln 2 = kLn2High + kLn2Low, good to 2^-54.
inline constexpr float kLn2High = 0x1.62e430p-1f;
inline constexpr float kLn2Low = -0x1.05c610p-29f;
// exp(r) = 1 + r + r^2 (C2 + C3 r + ... + C6 r^4) for |r| <= ln(2) / 2 with a relative error
// of 3.2e-9: the minimax polynomial (Remez) with its coefficients rounded to float one after
// another and the rest fitted anew each time.
inline constexpr float kC2 = 0x1.fffffcp-2f;
inline constexpr float kC3 = 0x1.55548cp-3f;
inline constexpr float kC4 = 0x1.555858p-5f;
inline constexpr float kC5 = 0x1.123da6p-7f;
inline constexpr float kC6 = 0x1.6ac144p-10f;

}  // namespace colibri::exp_constants
