// SPDX-License-Identifier: Apache-2.0
// exp, silu and sums in vector form: the same operations in the same order as the scalar text
// (docs/numerics.md).
#pragma once

#include <cstdint>

#include "plugins/cpu_common/simd.h"
#include "runtime/base/exp_constants.h"

namespace colibri::cpu {

// portable_exp of every lane.
template <class S>
COLIBRI_INLINE typename S::F exp(typename S::F x) {
  using namespace exp_constants;
  using F = typename S::F;
  x = S::min(S::set(kHighest), x);  // in this order NaN stays NaN
  x = S::max(S::set(kLowest), x);
  const F n = S::round(S::mul(x, S::set(kLog2E)));
  const F r = S::fnma(n, S::set(kLn2Low), S::fnma(n, S::set(kLn2High), x));
  F p = S::fma(S::set(kC6), r, S::set(kC5));
  p = S::fma(p, r, S::set(kC4));
  p = S::fma(p, r, S::set(kC3));
  p = S::fma(p, r, S::set(kC2));
  p = S::fma(p, r, S::set(1));
  p = S::fma(p, r, S::set(1));
  const typename S::I exponent = S::round_to_int(n);
  const typename S::I half = S::half(exponent);
  return S::mul(S::mul(p, S::power_of_two(half)), S::power_of_two(S::sub_i(exponent, half)));
}

// x / (1 + exp(-alpha x))
template <class S>
COLIBRI_INLINE typename S::F silu(typename S::F x, float alpha) {
  return S::div(x, S::add(S::set(1), exp<S>(S::mul(S::set(-alpha), x))));
}

// 1 / (1 + exp(-x))
template <class S>
COLIBRI_INLINE typename S::F sigmoid(typename S::F x) {
  return S::div(S::set(1), S::add(S::set(1), exp<S>(S::sub(S::set(-0.0f), x))));
}

// 16 virtual lanes as 16 / kLanes vectors: the unit of sums and of blocks of keys.
template <class S>
struct Lanes16 {
  static constexpr int kVectors = 16 / S::kLanes;
  typename S::F v[kVectors];

  static COLIBRI_INLINE Lanes16 set(float x) {
    Lanes16 lanes;
    COLIBRI_UNROLL
    for (int i = 0; i < kVectors; ++i) lanes.v[i] = S::set(x);
    return lanes;
  }
  static COLIBRI_INLINE Lanes16 load(const float* p) {
    Lanes16 lanes;
    COLIBRI_UNROLL
    for (int i = 0; i < kVectors; ++i) lanes.v[i] = S::load(p + i * S::kLanes);
    return lanes;
  }
  static COLIBRI_INLINE Lanes16 load_f16(const uint16_t* p) {
    Lanes16 lanes;
    COLIBRI_UNROLL
    for (int i = 0; i < kVectors; ++i) lanes.v[i] = S::load_f16(p + i * S::kLanes);
    return lanes;
  }
  COLIBRI_INLINE void store(float* p) const {
    COLIBRI_UNROLL
    for (int i = 0; i < kVectors; ++i) S::store(p + i * S::kLanes, v[i]);
  }
};

template <class S>
COLIBRI_INLINE Lanes16<S> fma(typename S::F a, const Lanes16<S>& b, Lanes16<S> c) {
  COLIBRI_UNROLL
  for (int i = 0; i < Lanes16<S>::kVectors; ++i) c.v[i] = S::fma(a, b.v[i], c.v[i]);
  return c;
}

// The fold of 16 lanes: 16 -> 8 -> 4 -> 2 -> 1.
template <class S>
COLIBRI_INLINE float fold(const Lanes16<S>& lanes) {
  float s[16];
  lanes.store(s);
  for (int width = 8; width >= 1; width /= 2) {
    for (int i = 0; i < width; ++i) s[i] += s[i + width];
  }
  return s[0];
}

}  // namespace colibri::cpu
