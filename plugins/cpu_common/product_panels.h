// SPDX-License-Identifier: Apache-2.0
// Walking a tile over the panels of a weight and over tokens.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

// Panels [begin, end) of a packed weight [rows, cols].
struct PanelSpan {
  const uint8_t* weight;
  int64_t rows, cols;
  int64_t begin, end;
};

// Output columns [8 * span.begin, min(8 * span.end, rows)) of T tokens, the first of them at
// out[0]; out_stride floats from one token to the next. Reads P streams of panels that are as far
// apart as the span allows: several far streams a thread are what reaches the memory's bandwidth
// (docs/numerics.md, "Measurements").
template <class Product, int P, int T>
void product_streams(PanelSpan span, typename Product::Tokens tokens, float* out,
                     int64_t out_stride) {
  using S = typename Product::Simd;
  const int64_t bytes = Product::panel_bytes(span.cols);
  float sums[P][T][S::kLanes];
  const int64_t panels = span.end - span.begin;
  const int64_t length = panels / S::kPanels / P;  // of a stream, in vectors
  for (int64_t i = 0; i < length; ++i) {
    const uint8_t* w[P];
    for (int p = 0; p < P; ++p)
      w[p] = span.weight + (span.begin + (p * length + i) * S::kPanels) * bytes;
    Product::template tile<P, T>(w, bytes, tokens, span.cols, sums);
    for (int p = 0; p < P; ++p) {
      const int64_t column = (p * length + i) * S::kLanes;
      const int64_t count =
          std::min<int64_t>(S::kLanes, span.rows - span.begin * kPanelRows - column);
      for (int t = 0; t < T; ++t) {
        for (int64_t j = 0; j < count; ++j) out[t * out_stride + column + j] = sums[p][t][j];
      }
    }
  }
  const int64_t done = length * P * S::kPanels;
  if (done == panels) return;
  if constexpr (P > 1) {
    const PanelSpan rest = {span.weight, span.rows, span.cols, span.begin + done, span.end};
    product_streams<Product, 1, T>(rest, tokens, out + done * kPanelRows, out_stride);
  } else {  // half a vector of panels: the last panel twice
    const uint8_t* w[1] = {span.weight + (span.end - 1) * bytes};
    Product::template tile<1, T>(w, 0, tokens, span.cols, sums);
    const int64_t count = std::min(kPanelRows, span.rows - (span.end - 1) * kPanelRows);
    for (int t = 0; t < T; ++t) {
      for (int64_t j = 0; j < count; ++j)
        out[t * out_stride + done * kPanelRows + j] = sums[0][t][j];
    }
  }
}

// Products whose weights are decoded first (decoded_product.h) or unpacked strip by strip
// (strip_product.h), and the others.
template <class Product>
concept Decoding = requires {
  typename Product::Decoded;
};
template <class Product>
concept Unpacking = requires {
  typename Product::Part;
};
template <class Product>
concept Direct = !Decoding<Product> && !Unpacking<Product>;

// The same for any number of tokens, kTileTokens of the product at a time.
template <Direct Product>
void product_panels(PanelSpan span, typename Product::Tokens tokens, int64_t count, float* out,
                    int64_t out_stride) {
  constexpr int kMost = Product::kTileTokens;
  int64_t t = 0;
  for (; t + kMost <= count; t += kMost) {
    product_streams<Product, 2, kMost>(span, tokens.from(t), out + t * out_stride, out_stride);
  }
  for (; t + 4 <= count; t += 4) {
    product_streams<Product, 2, 4>(span, tokens.from(t), out + t * out_stride, out_stride);
  }
  switch (count - t) {
    case 3:
      return product_streams<Product, 2, 3>(span, tokens.from(t), out + t * out_stride, out_stride);
    case 2:
      return product_streams<Product, 2, 2>(span, tokens.from(t), out + t * out_stride, out_stride);
    case 1:
      return product_streams<Product, 4, 1>(span, tokens.from(t), out + t * out_stride, out_stride);
    default:
      return;
  }
}

}  // namespace colibri::cpu
