// SPDX-License-Identifier: Apache-2.0
// Products of many q8_32 rows with quantised weights: the numbers of quantised_product.h, in the same
// order, with the weight unpacked strip by strip (weight_strip.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/product_panels.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/strip_tile.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/weight_strip.h"

namespace colibri::cpu {

constexpr int64_t kStripParts = 16;  // whole blocks of every codec
constexpr int kStripVectors = 2;     // panel vectors of a strip

// Asks for piece `piece` of `pieces` of a strip of weights, so that it is on its way while the strip
// before it is used. The strip stands `skip` bytes behind w.
template <class S, int P>
COLIBRI_INLINE void ask_for_strip(const uint8_t* const (&w)[P], int64_t next, int64_t skip,
                                  int64_t bytes, int64_t piece, int64_t pieces) {
  constexpr int64_t kLine = 64;
  const int64_t lines = divide_up(bytes, kLine);
  for (int p = 0; p < P; ++p) {
    for (int q = 0; q < S::kPanels; ++q) {
      for (int64_t line = lines * piece / pieces; line < lines * (piece + 1) / pieces; ++line)
        ask_for_line(w[p] + skip + q * next + line * kLine);
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
