// SPDX-License-Identifier: Apache-2.0
// Exact integer dots of one part (32 columns of 8 rows of each of P panel vectors) with T tokens. A
// codec gives columns<S, c>(part, next): its integers of columns 4c to 4c + 3 of the part, c from 0
// to 7. Columns 16 apart may share bytes.
#pragma once

#include <bit>
#include <cstdint>

#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

// A part of prepared rows: token t's q at q + 32 t, its two sums of 16 q at sum + 2 t.
struct PartInput {
  const int8_t* q;
  const int16_t* sum;
};

// In this order the columns that share bytes are neighbours.
constexpr int interleaved(int i) {
  return i / 2 + i % 2 * 4;
}

// Where a dot begins whose weights are `less` more than they should be: -less times the sum of x.
template <class S, int less>
COLIBRI_INLINE typename S::I start_of(const int16_t* sums_of_x) {
  if constexpr (less == 0) return S::zero_i();
  return S::dot_pairs(S::set_pair(-less), S::two_i16(sums_of_x));
}

// dot[p][t] = sum of w x, w signed.
template <class Codec, class S, int P, int T>
COLIBRI_INLINE void signed_dots(const uint8_t* const (&part)[P], int64_t next, PartInput x,
                                typename S::I (&dot)[P][T]) {
  typename S::SumS8 sums[P][T];
  typename S::I start[T];
  COLIBRI_UNROLL
  for (int t = 0; t < T; ++t) {
    start[t] = start_of<S, S::kBias>(x.sum + 2 * t);
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) sums[p][t] = S::begin_s8(start[t]);
  }
  for_constants<8>([&](auto i) COLIBRI_INLINE_LAMBDA {
    constexpr int c = interleaved(i);
    typename S::Bytes w[P];
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) w[p] = S::biased(Codec::template columns<S, c>(part[p], next));
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) {
      const typename S::Bytes four = S::broadcast(x.q + 32 * t + 4 * c);
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) sums[p][t] = S::dot_s8(sums[p][t], w[p], four);
    }
  });
  COLIBRI_UNROLL
  for (int t = 0; t < T; ++t) {
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) dot[p][t] = S::total(sums[p][t], start[t]);
  }
}

// How many of the 8 groups of columns one SumU takes, if no integer is larger than `most`.
constexpr int sum_length(int limit, int most) {
  return limit / most >= 8 ? 8 : limit / most >= 4 ? 4 : 2;
}

// sums[p][t] = start[t] plus the products of `length` groups of columns from group `begin` on.
template <class Codec, class S, int begin, int length, int P, int T>
COLIBRI_INLINE void sum_groups(const uint8_t* const (&part)[P], int64_t next, const int8_t* q,
                               const typename S::I (&start)[T], typename S::SumU (&sums)[P][T]) {
  COLIBRI_UNROLL
  for (int p = 0; p < P; ++p) {
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) sums[p][t] = S::begin_u(start[t]);
  }
  for_constants<length>([&](auto i) COLIBRI_INLINE_LAMBDA {
    constexpr int c = length == 8 ? interleaved(i) : begin + i;
    typename S::Bytes w[P];
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) w[p] = Codec::template columns<S, c>(part[p], next);
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) {
      const typename S::Bytes four = S::broadcast(q + 32 * t + 4 * c);
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) sums[p][t] = S::dot_u(sums[p][t], w[p], four);
    }
  });
}

// dot[p][t] = sum of (w - kLess) x, w from 0 to kMost.
template <class Codec, class S, int P, int T>
COLIBRI_INLINE void unsigned_dots(const uint8_t* const (&part)[P], int64_t next, PartInput x,
                                  typename S::I (&dot)[P][T]) {
  constexpr int kLength = sum_length(S::kMostU, Codec::kMost);
  for_constants<8 / kLength>([&](auto i) COLIBRI_INLINE_LAMBDA {
    typename S::I start[T];
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t)
      start[t] = i == 0 ? start_of<S, Codec::kLess>(x.sum + 2 * t) : S::zero_i();
    typename S::SumU sums[P][T];
    sum_groups<Codec, S, i * kLength, kLength>(part, next, x.q, start, sums);
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) {
        const typename S::I total = S::total(sums[p][t], start[t]);
        dot[p][t] = i == 0 ? total : S::add_i(dot[p][t], total);
      }
    }
  });
}

// Codecs each half of whose parts has an integer factor.
template <class Codec, class S>
concept HalfScaled = requires(const uint8_t* part) {
  Codec::template factors<S>(part, 0);
};

// What the sums of x take off a dot of scaled halves, as pairs: kLess, 0 or a power of 2, times the
// factors.
template <class Codec, class S>
COLIBRI_INLINE typename S::I less_pairs(typename S::I factors) {
  if constexpr (Codec::kLess == 0) return S::zero_i();
  return S::template pair_field<-std::countr_zero(static_cast<unsigned>(Codec::kLess))>(factors,
                                                                                        -1);
}

// dot[p][t] = sum of factor (w - kLess) x, w from 0 to kMost; each half of the part has its factor,
// from -128 to 127. factors<S>(part, next) gives them as pairs.
template <class Codec, class S, int P, int T>
COLIBRI_INLINE void scaled_dots(const uint8_t* const (&part)[P], int64_t next, PartInput x,
                                typename S::I (&dot)[P][T]) {
  constexpr int kWhole = sum_length(S::kMostU, Codec::kMost);
  constexpr int kLength = kWhole < 4 ? kWhole : 4;
  typename S::I factors[P];
  COLIBRI_UNROLL
  for (int p = 0; p < P; ++p) factors[p] = Codec::template factors<S>(part[p], next);
  for_constants<8 / kLength>([&](auto i) COLIBRI_INLINE_LAMBDA {
    typename S::I zero[T];
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) zero[t] = S::zero_i();
    typename S::SumU sums[P][T];
    sum_groups<Codec, S, i * kLength, kLength>(part, next, x.q, zero, sums);
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      const typename S::I factor =
          i * kLength < 4 ? S::first_factors(factors[p]) : S::second_factors(factors[p]);
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) {
        const typename S::I scaled = S::scaled(sums[p][t], factor);
        dot[p][t] = i == 0 ? scaled : S::add_i(dot[p][t], scaled);
      }
    }
  });
  if constexpr (Codec::kLess != 0) {
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      const typename S::I less = less_pairs<Codec, S>(factors[p]);
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t)
        dot[p][t] = S::sub_i(dot[p][t], S::dot_pairs(less, S::two_i16(x.sum + 2 * t)));
    }
  }
}

}  // namespace colibri::cpu
