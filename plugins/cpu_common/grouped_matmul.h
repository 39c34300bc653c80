// SPDX-License-Identifier: Apache-2.0
// Products of the rows of each group with the group's weight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/decoded_product.h"
#include "plugins/cpu_common/float_product.h"
#include "plugins/cpu_common/k_codecs.h"
#include "plugins/cpu_common/plain_codecs.h"
#include "plugins/cpu_common/product_epilogue.h"
#include "plugins/cpu_common/product_panels.h"
#include "plugins/cpu_common/product_tokens.h"
#include "plugins/cpu_common/quantised_product.h"
#include "plugins/cpu_common/quantize_rows.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// A worker's memory for one part of a product.
struct ProductScratch {
  // products (gate and up) of some columns of all rows of the part, before the epilogue
  static constexpr int64_t kProducts = 4096;
  float* gate;
  float* up;
  uint8_t* tokens;  // what a product needs of its rows

  static COLIBRI_INLINE int64_t bytes(const OperatorState& state) {
    const int64_t token = is_quantised_codec(state.weight_codec) ? state.cols / kBlockCols * 40
                                                                 : int64_t{sizeof(float*)};
    const int64_t decoded =
        is_decoded_codec(state.weight_codec) ? decoded_panels_bytes(state.cols) : 0;
    const int64_t strip = is_quantised_codec(state.weight_codec) ? kStripMemoryBytes : 0;
    return 2 * kProducts * 4 + kTaskRows * token + decoded + strip;
  }
  explicit COLIBRI_INLINE ProductScratch(void* memory)
      : gate(static_cast<float*>(memory)),
        up(gate + kProducts),
        tokens(reinterpret_cast<uint8_t*>(up + kProducts)) {}
};

// Weights and biases of a group: gate and up, or one.
struct GroupWeights {
  const uint8_t* weight[2] = {};
  const float* bias[2] = {};

  // False if one of them is not what the operator was created for.
  COLIBRI_INLINE bool find(const OperatorState& state, const colibri_grouped_matmul_args& call,
                           int64_t group) {
    for (uint32_t i = 0; i < call.weights_per_group; ++i) {
      const int64_t at = group * call.weights_per_group + i;
      weight[i] = packed_weight(state, call.weight[at]);
      if (state.grouped_matmul.bias == 1) bias[i] = bias_numbers(state, call.bias[at]);
      if (weight[i] == nullptr || (state.grouped_matmul.bias == 1 && bias[i] == nullptr))
        return false;
    }
    return true;
  }
};

// Biases and the epilogue for `columns` products of a row, from column `first` on.
template <class S>
void finish_products(const colibri_grouped_matmul_attributes& a, const GroupWeights& weights,
                     int64_t first, int64_t columns, float* gate, float* up) {
  const bool gated = a.epilogue == COLIBRI_EPILOGUE_GATED;
  if (a.bias == 1) add_bias<S>(gate, weights.bias[0] + first, columns);
  if (a.bias == 1 && gated) add_bias<S>(up, weights.bias[1] + first, columns);
  if (gated) gated_epilogue<S>(a, gate, up, columns);
  if (a.clamp != 0 && !gated) clamp_epilogue<S>(gate, a.clamp, columns);
  if (a.activation == COLIBRI_ACTIVATION_SIGMOID) sigmoid_epilogue<S>(gate, columns);
}

// A part whose products are finished in scratch memory, some columns at a time.
template <class Product>
colibri_status run_finished_part(const OperatorState& state,
                                 const colibri_grouped_matmul_args& call, ProductPart part,
                                 const GroupWeights& weights, typename Product::Tokens tokens,
                                 const ProductScratch& scratch) {
  using S = typename Product::Simd;
  const auto& a = state.grouped_matmul;
  const int64_t count = part.row_end - part.row_begin;
  const int64_t panels =
      ProductScratch::kProducts / kPanelRows / count / kTaskPanels * kTaskPanels;  // in one go
  for (int64_t begin = part.panel_begin; begin < part.panel_end; begin += panels) {
    const int64_t end = std::min(begin + panels, part.panel_end);
    const int64_t stride = (end - begin) * kPanelRows;
    const int64_t first = begin * kPanelRows;
    const int64_t columns = std::min(stride, state.rows - first);
    float* const products[2] = {scratch.gate, scratch.up};
    for (uint32_t i = 0; i < call.weights_per_group; ++i) {
      product_panels<Product>({weights.weight[i], state.rows, state.cols, begin, end}, tokens,
                              count, products[i], stride);
    }
    for (int64_t t = 0; t < count; ++t) {
      float* values = scratch.gate + t * stride;
      finish_products<S>(a, weights, first, columns, values, scratch.up + t * stride);
      const int64_t row = indexed(call.output_index, part.row_begin + t);
      if (row < 0 || row >= call.output.shape[0]) return COLIBRI_INVALID_ARGUMENT;
      if (a.output_dtype == COLIBRI_CODEC_F32) {
        std::memcpy(f32_row(call.output, row) + first, values, static_cast<size_t>(columns) * 4);
        continue;
      }
      const PreparedRow to = prepared_row(tensor_row(call.output, row), state.rows);
      for (int64_t i = 0; i < columns; i += kBlockCols)
        quantize_block<S>(values + i, to, (first + i) / kBlockCols);
    }
  }
  return COLIBRI_OK;
}

template <class S, class Codec, template <class, class> class Kind>
colibri_status run_part(const OperatorState& state, const colibri_grouped_matmul_args& call,
                        ProductPart part, const ProductScratch& scratch) {
  using Product = Kind<S, Codec>;
  const auto& a = state.grouped_matmul;
  const bool is_plain = a.epilogue == COLIBRI_EPILOGUE_NONE && a.bias == 0 && a.clamp == 0 &&
                        a.activation == COLIBRI_ACTIVATION_NONE && call.output_index == nullptr;
  typename Product::Tokens tokens;
  if (!prepare_tokens<S, Codec>(call, part, state.cols, scratch.tokens, &tokens))
    return COLIBRI_INVALID_ARGUMENT;
  GroupWeights weights;
  if (!weights.find(state, call, part.group)) return COLIBRI_INVALID_ARGUMENT;
  if (!is_plain) return run_finished_part<Product>(state, call, part, weights, tokens, scratch);
  product_panels<Product>(
      {weights.weight[0], state.rows, state.cols, part.panel_begin, part.panel_end}, tokens,
      part.row_end - part.row_begin,
      f32_row(call.output, part.row_begin) + part.panel_begin * kPanelRows,
      call.output.stride[0] / 4);
  return COLIBRI_OK;
}

// Kind for all parts, or for those of few rows if there is another kind for many.
template <class S, class Codec, template <class, class> class Kind,
          template <class, class> class OfManyRows = Kind>
colibri_status run_products(const OperatorState& state, const colibri_grouped_matmul_args& call,
                            TaskRange tasks, void* memory) {
  constexpr int64_t kManyRows = S::kLanes > 8 ? 6 : 8;  // from here on it is faster, measured
  const ProductScratch scratch(memory);
  return for_each_part(state, call, tasks, [&](ProductPart part) {
    return part.row_end - part.row_begin < kManyRows
               ? run_part<S, Codec, Kind>(state, call, part, scratch)
               : run_part<S, Codec, OfManyRows>(state, call, part, scratch);
  });
}

template <class S, class Codec>
colibri_status run_quantised(const OperatorState& state, const colibri_grouped_matmul_args& call,
                             TaskRange tasks, void* memory) {
  return run_products<S, Codec, QuantisedProduct, StripProduct>(state, call, tasks, memory);
}

template <class S>
colibri_status run_grouped_matmul(const OperatorState& state, const void* arguments,
                                  TaskRange tasks, void* scratch) {
  const auto& call = *static_cast<const colibri_grouped_matmul_args*>(arguments);
  switch (state.weight_codec) {
    case COLIBRI_CODEC_F32:
      return run_products<S, F32Weights, FloatProduct>(state, call, tasks, scratch);
    case COLIBRI_CODEC_F16:
      return run_products<S, F16Weights, FloatProduct>(state, call, tasks, scratch);
    case COLIBRI_CODEC_BF16:
      return run_products<S, Bf16Weights, FloatProduct>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q8_0:
      return run_quantised<S, Q8_0Weights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q4_0:
      return run_quantised<S, Q4_0Weights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q4_1:
      return run_quantised<S, Q4_1Weights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q5_0:
      return run_quantised<S, Q5_0Weights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q5_1:
      return run_quantised<S, Q5_1Weights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q2_K:
      return run_quantised<S, Q2_KWeights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q3_K:
      return run_quantised<S, Q3_KWeights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q4_K:
      return run_quantised<S, Q4_KWeights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q5_K:
      return run_quantised<S, Q5_KWeights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_Q6_K:
      return run_quantised<S, Q6_KWeights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_IQ4_NL:
      return run_quantised<S, Iq4NlWeights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_IQ4_XS:
      return run_quantised<S, Iq4XsWeights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_MXFP4:
      return run_quantised<S, Mxfp4Weights>(state, call, tasks, scratch);
    default:
      return run_products<S, F32Weights, DecodedProduct>(state, call, tasks, scratch);
  }
}

}  // namespace colibri::cpu
