// SPDX-License-Identifier: Apache-2.0
// Products of f32 rows with weights that are kept row by row in a codec without a product of its
// own: a few rows at a time are decoded into a panel of f32, so the bytes are those of f32 weights.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/float_product.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/product_panels.h"
#include "plugins/cpu_common/simd.h"
#include "runtime/base/decode_row.h"

namespace colibri::cpu {

// Codec is that of the decoded panel: F32Weights.
template <class S, class Codec>
struct DecodedProduct {
  using Simd = S;
  using Decoded = FloatProduct<S, Codec>;
  struct Tokens {
    typename Decoded::Tokens rows;
    uint32_t codec;  // of the weights
    float* panels;   // [S::kPanels * 8 * cols] for decoding
  };
};

// Bytes for decoded panels of any instruction set.
static COLIBRI_INLINE int64_t decoded_panels_bytes(int64_t cols) {
  constexpr int64_t kMostPanels = 2;
  return kMostPanels * kPanelRows * cols * int64_t{sizeof(float)};
}

// Decodes `count` rows, row_bytes apart, into one panel [cols][8]; the rows behind them stay as they
// are, since nobody reads their products.
static inline void decode_panel(uint32_t codec, const uint8_t* rows, int64_t row_bytes,
                                int64_t count, int64_t cols, float* panel) {
  constexpr int64_t kStep = 256;  // columns, whole blocks of every codec: 8 rows of them fit in L1
  const CodecFacts& facts = *codec_facts(codec);
  float numbers[kPanelRows][kStep] = {};
  for (int64_t begin = 0; begin < cols; begin += kStep) {
    const int64_t n = std::min(kStep, cols - begin);
    for (int64_t r = 0; r < count; ++r) {
      decode_row(codec, rows + r * row_bytes + begin / facts.elements * facts.bytes, n, numbers[r]);
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t r = 0; r < kPanelRows; ++r) panel[(begin + i) * kPanelRows + r] = numbers[r][i];
    }
  }
}

// product_panels() of product_panels.h for this kind of product.
template <Decoding Product>
void product_panels(PanelSpan span, typename Product::Tokens tokens, int64_t count, float* out,
                    int64_t out_stride) {
  using S = typename Product::Simd;
  const int64_t row_bytes = file_row_bytes(tokens.codec, span.cols);
  for (int64_t panel = span.begin; panel < span.end; panel += S::kPanels) {
    const int64_t panels = std::min<int64_t>(S::kPanels, span.end - panel);
    const int64_t first = panel * kPanelRows;
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t row = first + p * kPanelRows;
      decode_panel(tokens.codec, span.weight + row * row_bytes, row_bytes,
                   std::min(kPanelRows, span.rows - row), span.cols,
                   tokens.panels + p * kPanelRows * span.cols);
    }
    const PanelSpan decoded = {reinterpret_cast<const uint8_t*>(tokens.panels), span.rows - first,
                               span.cols, 0, panels};
    product_panels<typename Product::Decoded>(decoded, tokens.rows, count,
                                              out + first - span.begin * kPanelRows, out_stride);
  }
}

}  // namespace colibri::cpu
