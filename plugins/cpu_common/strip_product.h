// SPDX-License-Identifier: Apache-2.0
// Products of many q8_32 rows with quantised weights: the numbers of quantised_product.h, in the same
// order, with the weight unpacked strip by strip (weight_strip.h).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/product_panels.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/weight_strip.h"

namespace colibri::cpu {

constexpr int64_t kStripTokens = 4;  // of a tile
constexpr int64_t kStripParts = 16;  // whole blocks of every codec
constexpr int kStripVectors = 2;     // panel vectors of a strip

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

// sums[t][p] += strip times T tokens of a tile; the first strip of a row begins them.
template <class S, StripKind kind, int P, int T>
void add_strip(const StripPart<S, kind, P>* strip, int64_t parts, StripInput x, bool first,
               float (*sums)[P][S::kLanes]) {
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

// Asks for piece `piece` of `pieces` of a strip of weights, so that it is on its way while the strip
// before it is used. The strip stands `skip` bytes behind w; nothing is read, so it may not exist.
template <class S, int P>
COLIBRI_INLINE void ask_for_strip(const uint8_t* const (&w)[P], int64_t next, int64_t skip,
                                  int64_t bytes, int64_t piece, int64_t pieces) {
  constexpr int64_t kLine = 64;
  const int64_t lines = divide_up(bytes, kLine);
  for (int p = 0; p < P; ++p) {
    for (int q = 0; q < S::kPanels; ++q) {
      for (int64_t line = lines * piece / pieces; line < lines * (piece + 1) / pieces; ++line)
        __builtin_prefetch(w[p] + skip + q * next + line * kLine, 0, 2);
    }
  }
}

template <class S, class Codec>
struct StripProduct {
  using Simd = S;
  using Weights = Codec;
  static constexpr StripKind kKind = strip_kind<S, Codec>();
  using Part = StripPart<S, kKind, kStripVectors>;
  using Tokens = StripTokens;
};

// Room for a strip and the sums of the tokens of a task, for any instruction set and codec.
constexpr int64_t kStripBytes = kStripParts * kStripVectors * 64 * 14;
constexpr int64_t kStripMemoryBytes = kStripBytes + kTaskRows * kStripVectors * 64;

// product_panels() of product_panels.h for this kind of product.
template <Unpacking Product>
void product_panels(PanelSpan span, typename Product::Tokens tokens, int64_t count, float* out,
                    int64_t out_stride) {
  using S = typename Product::Simd;
  using Codec = typename Product::Weights;
  using Part = typename Product::Part;
  static_assert(kStripParts * sizeof(Part) <= kStripBytes);
  constexpr int P = kStripVectors;
  auto* const strip = static_cast<Part*>(tokens.memory);
  auto* const sums =
      reinterpret_cast<float(*)[P][S::kLanes]>(static_cast<char*>(tokens.memory) + kStripBytes);
  const int64_t bytes = Codec::kBlock.bytes() * (span.cols / Codec::kBlock.cols);
  const int64_t next = span.end - span.begin < S::kPanels ? 0 : bytes;
  for (int64_t panel = span.begin; panel < span.end; panel += P * S::kPanels) {
    // Where panels are missing at the end, vectors overlap, and equal numbers are written twice.
    int64_t first[P];
    const uint8_t* w[P];
    for (int p = 0; p < P; ++p) {
      first[p] = std::max(std::min(panel + p * S::kPanels, span.end - S::kPanels), span.begin);
      w[p] = span.weight + first[p] * bytes;
    }
    for (int64_t begin = 0; begin < tokens.parts; begin += kStripParts) {
      const int64_t parts = std::min(kStripParts, tokens.parts - begin);
      unpack_strip<Codec, S, Product::kKind, P>(w, next, parts, strip);
      const bool last = begin + kStripParts >= tokens.parts;  // the next one is of other panels
      const int64_t skip = last ? (P * S::kPanels - 1) * bytes : 0;
      for (int64_t t = 0; t < count; t += kStripTokens) {
        ask_for_strip<S, P>(w, next, skip,
                            kStripParts / Codec::kBlock.parts() * Codec::kBlock.bytes(),
                            t / kStripTokens, divide_up(count, kStripTokens));
        const StripInput x = tokens.input.from(t * tokens.parts + begin * kStripTokens);
        with_count(std::min(kStripTokens, count - t), [&](auto n) {
          add_strip<S, Product::kKind, P, n>(strip, parts, x, begin == 0, sums + t);
        });
      }
    }
    for (int p = 0; p < P; ++p) {
      const int64_t column = first[p] * kPanelRows;
      const int64_t columns =
          std::min<int64_t>(S::kLanes, std::min(span.end * kPanelRows, span.rows) - column);
      float* to = out + column - span.begin * kPanelRows;
      for (int64_t t = 0; t < count; ++t) {
        const typename S::F x = S::load(sums[t][p]);
        if (columns == S::kLanes) {
          S::store(to + t * out_stride, x);
        } else {
          S::store_first(to + t * out_stride, x, columns);
        }
      }
    }
  }
}

}  // namespace colibri::cpu
