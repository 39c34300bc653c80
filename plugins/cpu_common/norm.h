// SPDX-License-Identifier: Apache-2.0
// RMS norm in f64: x * (1 / sqrt(mean(x^2) + eps)) * weight, clamped.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/product_epilogue.h"
#include "plugins/cpu_common/quantize_rows.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// Written for the compiler to make vectors of: f64, 16 lanes (docs/numerics.md, "Lane sum").
static COLIBRI_INLINE double sum_of_squares(const float* x, int64_t n) {
  double lane[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (int j = 0; j < 16; ++j) {
      const double a = x[i + j];
      lane[j] += a * a;
    }
  }
  for (int64_t j = 0; i + j < n; ++j) {
    const double a = x[i + j];
    lane[j] += a * a;
  }
  for (int width = 8; width >= 1; width /= 2) {
    for (int j = 0; j < width; ++j) lane[j] += lane[j + width];
  }
  return lane[0];
}

static COLIBRI_INLINE void normalize(const float* x, const float* weight, double scale, float* out,
                                     int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(x[i] * scale * weight[i]);
}

template <class S>
colibri_status run_norm(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_norm_args*>(arguments);
  const auto* weight = reinterpret_cast<const float*>(tensor_bytes(call.weight));
  const int64_t n = state.cols;
  const float clamp = state.norm.clamp;
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const float* x = f32_row(call.input, row);
    const double mean = sum_of_squares(x, n) / static_cast<double>(n);
    const double scale = 1 / std::sqrt(mean + static_cast<double>(state.norm.eps));
    if (state.norm.output_dtype == COLIBRI_CODEC_F32) {
      float* out = f32_row(call.output, row);
      normalize(x, weight, scale, out, n);
      if (clamp != 0) clamp_epilogue<S>(out, clamp, n);
      continue;
    }
    const PreparedRow to = prepared_row(tensor_row(call.output, row), n);
    for (int64_t block = 0; block < n / kBlockCols; ++block) {
      float values[kBlockCols];
      normalize(x + block * kBlockCols, weight + block * kBlockCols, scale, values, kBlockCols);
      if (clamp != 0) clamp_epilogue<S>(values, clamp, kBlockCols);
      quantize_block<S>(values, to, block);
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
