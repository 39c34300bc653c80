// SPDX-License-Identifier: Apache-2.0
// RMS norm: x * (1 / sqrt(mean(x^2) + eps)) * weight, clamped, the sum over 16 virtual lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/product_epilogue.h"
#include "plugins/cpu_common/quantize_rows.h"
#include "plugins/cpu_common/vector_math.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

template <class S>
COLIBRI_INLINE float sum_of_squares(const float* x, int64_t n) {
  Lanes16<S> sums = Lanes16<S>::set(0);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    COLIBRI_UNROLL
    for (int v = 0; v < Lanes16<S>::kVectors; ++v) {
      const typename S::F a = S::load(x + i + v * S::kLanes);
      sums.v[v] = S::fma(a, a, sums.v[v]);
    }
  }
  COLIBRI_UNROLL
  for (int v = 0; v < Lanes16<S>::kVectors; ++v) {
    const int64_t left = std::clamp<int64_t>(n - i - v * S::kLanes, 0, S::kLanes);
    if (left == 0) break;
    const typename S::F a = S::load_first(x + i + v * S::kLanes, left);
    sums.v[v] = S::fma(a, a, sums.v[v]);
  }
  return fold(sums);
}

template <class S>
COLIBRI_INLINE void normalize(const float* x, const float* weight, float scale, float* out,
                              int64_t n) {
  int64_t i = 0;
  for (; i + S::kLanes <= n; i += S::kLanes) {
    S::store(out + i, S::mul(S::mul(S::load(x + i), S::set(scale)), S::load(weight + i)));
  }
  if (i == n) return;
  const int64_t left = n - i;
  S::store_first(
      out + i,
      S::mul(S::mul(S::load_first(x + i, left), S::set(scale)), S::load_first(weight + i, left)),
      left);
}

template <class S>
colibri_status run_norm(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_norm_args*>(arguments);
  const auto* weight = reinterpret_cast<const float*>(tensor_bytes(call.weight));
  const int64_t n = state.cols;
  const float clamp = state.norm.clamp;
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const float* x = f32_row(call.input, row);
    const float mean = sum_of_squares<S>(x, n) / static_cast<float>(n);
    const float scale = 1 / std::sqrt(mean + state.norm.eps);
    if (state.norm.output_dtype == COLIBRI_CODEC_F32) {
      float* out = f32_row(call.output, row);
      normalize<S>(x, weight, scale, out, n);
      if (clamp != 0) clamp_epilogue<S>(out, clamp, n);
      continue;
    }
    const PreparedRow to = prepared_row(tensor_row(call.output, row), n);
    for (int64_t block = 0; block < n / kBlockCols; ++block) {
      float values[kBlockCols];
      normalize<S>(x + block * kBlockCols, weight + block * kBlockCols, scale, values, kBlockCols);
      if (clamp != 0) clamp_epilogue<S>(values, clamp, kBlockCols);
      quantize_block<S>(values, to, block);
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
