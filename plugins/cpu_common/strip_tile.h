// SPDX-License-Identifier: Apache-2.0
// A strip of a weight times a tile of tokens.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/weight_strip.h"

namespace colibri::cpu {

constexpr int64_t kStripTokens = 4;  // of a tile

// Tokens in tiles: part b of token t stands at (tile, b, t of the tile).
struct StripInput {
  const int8_t* q;      // 32 of each
  const float* unit;    // d_x
  const int32_t* term;  // strip_term()

  COLIBRI_INLINE StripInput from(int64_t at) const { return {q + 32 * at, unit + at, term + at}; }
};

// What a product needs of the two sums of a part of a token besides its q: where the dot begins, or
// the sum as the float step wants it, or both as they are.
template <class S, class Codec>
COLIBRI_INLINE int32_t strip_term(const int16_t* sum, float unit) {
  constexpr StripKind kKind = strip_kind<S, Codec>();
  const int32_t both = sum[0] + sum[1];
  if constexpr (kKind.dots == StripKind::Dots::kScaled) {
    return std::bit_cast<int32_t>(std::array<int16_t, 2>{sum[0], sum[1]});
  } else if constexpr (kKind.offset == Offset::kOfPart) {
    static_assert(Codec::kLess == 0);
    return std::bit_cast<int32_t>(static_cast<float>(both) * unit);
  } else if constexpr (Codec::kSigned) {
    return -S::kBias * both;
  } else {
    return -Codec::kLess * both;
  }
}

// dot[p][t] = the exact integer dot of a part, as in part_dots.h.
template <class S, StripKind kind, int P, int T>
COLIBRI_INLINE void strip_dots(const StripPart<S, kind, P>& part, const int8_t* q,
                               const int32_t* term, typename S::I (&dot)[P][T]) {
  using Dots = StripKind::Dots;
  constexpr bool kStarts = kind.dots != Dots::kScaled && kind.offset == Offset::kNone;
  for_constants<8 / kind.length>([&](auto i) COLIBRI_INLINE_LAMBDA {
    constexpr int kBegin = i * kind.length;
    const auto start = [&](int t) COLIBRI_INLINE_LAMBDA {
      return i == 0 && kStarts ? S::set_i(term[t]) : S::zero_i();
    };
    std::conditional_t<kind.dots == Dots::kSigned, typename S::SumS8, typename S::SumU> sums[P][T];
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) {
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) {
        if constexpr (kind.dots == Dots::kSigned)
          sums[p][t] = S::begin_s8(start(t));
        else
          sums[p][t] = S::begin_u(start(t));
      }
    }
    COLIBRI_UNROLL
    for (int c = kBegin; c < kBegin + kind.length; ++c) {
      typename S::Bytes w[P];
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) w[p] = part.columns[c][p];
      COLIBRI_UNROLL
      for (int t = 0; t < T; ++t) {
        const typename S::Bytes four = S::broadcast(q + 32 * t + 4 * c);
        COLIBRI_UNROLL
        for (int p = 0; p < P; ++p) {
          if constexpr (kind.dots == Dots::kSigned) {
            sums[p][t] = S::dot_s8(sums[p][t], w[p], four);
          } else {
            sums[p][t] = S::dot_u(sums[p][t], w[p], four);
          }
        }
      }
    }
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) {
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) {
        typename S::I total;
        if constexpr (kind.dots == Dots::kScaled) {
          total = S::scaled(sums[p][t], kBegin < 4 ? part.first[p] : part.second[p]);
        } else {
          total = S::total(sums[p][t], start(t));
        }
        dot[p][t] = i == 0 ? total : S::add_i(dot[p][t], total);
      }
    }
  });
  if constexpr (kind.dots == Dots::kScaled) {
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) {
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p)
        dot[p][t] = S::sub_i(dot[p][t], S::dot_pairs(part.less[p], S::set_i(term[t])));
    }
  }
}

// sums[t][p] += strip times T tokens of a tile; the first strip of a row begins them. Not inlined,
// it makes a prompt a twentieth slower with VNNI.
template <class S, StripKind kind, int P, int T>
COLIBRI_INLINE void add_strip(const StripPart<S, kind, P>* strip, int64_t parts, StripInput x,
                              bool first, float (*sums)[P][S::kLanes]) {
  typename S::F acc[P][T];
  COLIBRI_UNROLL
  for (int t = 0; t < T; ++t) {
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) acc[p][t] = first ? S::zero() : S::load(sums[t][p]);
  }
  for (int64_t b = 0; b < parts; ++b) {
    const StripPart<S, kind, P>& part = strip[b];
    typename S::I dot[P][T];
    strip_dots<S, kind, P, T>(part, x.q, x.term, dot);
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) {
      const typename S::F unit = S::set(x.unit[t]);
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) {
        acc[p][t] = S::fma(S::to_float(dot[p][t]), S::mul(part.scale[p], unit), acc[p][t]);
        if constexpr (kind.offset == Offset::kOfPart) {
          acc[p][t] = S::fma(part.offset[p], S::set(std::bit_cast<float>(x.term[t])), acc[p][t]);
        }
        if constexpr (kind.offset == Offset::kOfHalves) {
          const typename S::I both = S::dot_pairs(part.halves[p], S::set_i(x.term[t]));
          acc[p][t] = S::fma(part.offset[p], S::mul(S::to_float(both), unit), acc[p][t]);
        }
      }
    }
    x = x.from(kStripTokens);
  }
  COLIBRI_UNROLL
  for (int t = 0; t < T; ++t) {
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) S::store(sums[t][p], acc[p][t]);
  }
}

struct StripTokens {
  StripInput input;
  int64_t parts;  // of a row
  void* memory;   // kStripMemoryBytes, aligned to 64
};

}  // namespace colibri::cpu
