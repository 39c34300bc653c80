// SPDX-License-Identifier: Apache-2.0
// The input rows of a part of grouped_matmul in the form that each kind of product reads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/decoded_product.h"
#include "plugins/cpu_common/float_product.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/quantised_product.h"
#include "plugins/cpu_common/strip_product.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// Each of these: false if a row lies outside of the input.
template <class S, class Codec>
bool prepare_tokens(const colibri_grouped_matmul_args& call, ProductPart part, int64_t,
                    uint8_t* memory, typename FloatProduct<S, Codec>::Tokens* tokens) {
  auto** rows = reinterpret_cast<const float**>(memory);
  for (int64_t i = part.row_begin; i < part.row_end; ++i) {
    const int64_t row = indexed(call.row_index, i);
    if (row < 0 || row >= call.input.shape[0]) return false;
    rows[i - part.row_begin] = f32_row(call.input, row);
  }
  tokens->rows = rows;
  return true;
}

template <class S, class Codec>
bool prepare_tokens(const colibri_grouped_matmul_args& call, ProductPart part, int64_t cols,
                    uint8_t* memory, typename DecodedProduct<S, Codec>::Tokens* tokens) {
  tokens->codec = call.weight[part.group * call.weights_per_group].dtype;
  tokens->panels = reinterpret_cast<float*>(memory + kTaskRows * sizeof(float*));
  return prepare_tokens<S, Codec>(call, part, cols, memory, &tokens->rows);
}

template <class S, class Codec>
bool prepare_tokens(const colibri_grouped_matmul_args& call, ProductPart part, int64_t cols,
                    uint8_t* memory, typename QuantisedProduct<S, Codec>::Tokens* tokens) {
  const int64_t count = part.row_end - part.row_begin;
  const int64_t blocks = cols / kBlockCols;
  int8_t* q = reinterpret_cast<int8_t*>(memory);
  float* scale = reinterpret_cast<float*>(memory + kTaskRows * cols);
  int16_t* sum = reinterpret_cast<int16_t*>(scale + kTaskRows * blocks);
  constexpr int64_t kWidth = 4;
  for (int64_t t = 0; t < count; ++t) {
    const int64_t row = indexed(call.row_index, part.row_begin + t);
    if (row < 0 || row >= call.input.shape[0]) return false;
    const PreparedRow from = prepared_row(tensor_row(call.input, row), cols);
    if (count == 1) {
      *tokens = {from.q, from.scale, from.sum, 1, blocks};
      return true;
    }
    // tiles of 4 tokens, block by block: rows as they are would collide in the cache when cols is a
    // power of two
    int64_t at = t / kWidth * blocks * kWidth + t % kWidth;
    for (int64_t block = 0; block < blocks; ++block, at += kWidth) {
      std::memcpy(q + at * kBlockCols, from.q + block * kBlockCols, kBlockCols);
      scale[at] = from.scale[block];
      std::memcpy(sum + 2 * at, from.sum + 2 * block, 2 * sizeof(int16_t));
    }
  }
  *tokens = {q, scale, sum, kWidth, blocks};
  return true;
}

// Tiles of 4 tokens, block by block: rows as they are would collide in the cache when cols is a power
// of two.
template <class S, class Codec>
bool prepare_tokens(const colibri_grouped_matmul_args& call, ProductPart part, int64_t cols,
                    uint8_t* memory, StripTokens* tokens) {
  const int64_t parts = cols / kBlockCols;
  int8_t* q = reinterpret_cast<int8_t*>(memory);
  float* unit = reinterpret_cast<float*>(memory + kTaskRows * cols);
  int32_t* term = reinterpret_cast<int32_t*>(unit + kTaskRows * parts);
  for (int64_t begin = part.row_begin; begin < part.row_end; begin += kStripTokens) {
    const int64_t count = std::min(kStripTokens, part.row_end - begin);
    PreparedRow from[kStripTokens];
    for (int64_t t = 0; t < kStripTokens; ++t) {
      // where rows are missing at the end, the last one stands in for them
      const int64_t row = indexed(call.row_index, begin + std::min(t, count - 1));
      if (row < 0 || row >= call.input.shape[0]) return false;
      from[t] = prepared_row(tensor_row(call.input, row), cols);
    }
    int64_t at = (begin - part.row_begin) * parts;
    for (int64_t b = 0; b < parts; ++b) {
      COLIBRI_UNROLL
      for (int64_t t = 0; t < kStripTokens; ++t, ++at) {
        std::memcpy(q + at * kBlockCols, from[t].q + b * kBlockCols, kBlockCols);
        unit[at] = from[t].scale[b];
        term[at] = strip_term<S, Codec>(from[t].sum + 2 * b, from[t].scale[b]);
      }
    }
  }
  *tokens = {{q, unit, term}, parts, term + kTaskRows * parts};
  return true;
}

}  // namespace colibri::cpu
