// SPDX-License-Identifier: Apache-2.0
// Rows to their prepared form q8_32.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// Block `block` of a prepared row from its 32 floats.
template <class S>
COLIBRI_INLINE void quantize_block(const float* x, PreparedRow to, int64_t block) {
  constexpr int kVectors = 32 / S::kLanes;
  typename S::I most = S::zero_i();
  COLIBRI_UNROLL
  for (int i = 0; i < kVectors; ++i)
    most = S::max_i(most, S::magnitude_bits(S::load(x + i * S::kLanes)));
  const int32_t bits = S::most_of(most);
  int8_t* q = to.q + block * kBlockCols;
  if (bits >= 0x7F800000) {  // infinity or NaN: as integers they come after all other magnitudes
    for (int i = 0; i < kBlockCols; ++i) q[i] = 0;
    to.scale[block] = std::numeric_limits<float>::quiet_NaN();
    to.sum[2 * block] = to.sum[2 * block + 1] = 0;
    return;
  }
  float scale = std::bit_cast<float>(bits) / 127;
  if (scale < std::numeric_limits<float>::min()) scale = 0;
  const float inverse = scale > 0 ? 1 / scale : 0;
  to.scale[block] = scale;
  for (int half = 0; half < 2; ++half) {
    typename S::I sum = S::zero_i();
    COLIBRI_UNROLL
    for (int v = 0; v < kVectors / 2; ++v) {
      const int at = (half * (kVectors / 2) + v) * S::kLanes;
      const typename S::I rounded = S::round_to_int(S::mul(S::load(x + at), S::set(inverse)));
      sum = S::add_i(sum, rounded);
      S::store_i8(q + at, rounded);
    }
    to.sum[2 * block + half] = static_cast<int16_t>(S::sum_of(sum));
  }
}

// The same from n floats, of which 32 are taken; what is missing is 0.
template <class S>
COLIBRI_INLINE void quantize_padded(const float* x, int64_t n, PreparedRow to, int64_t block) {
  if (n >= kBlockCols) return quantize_block<S>(x, to, block);
  float padded[kBlockCols] = {};
  std::copy_n(x, n, padded);
  quantize_block<S>(padded, to, block);
}

template <class S>
COLIBRI_INLINE void quantize_row(const float* x, uint8_t* to, int64_t cols) {
  const PreparedRow row = prepared_row(to, cols);
  for (int64_t block = 0; block < cols / kBlockCols; ++block)
    quantize_block<S>(x + block * kBlockCols, row, block);
}

template <class S>
colibri_status run_quantize_rows(const OperatorState&, const void* arguments, TaskRange tasks,
                                 void*) {
  const auto& call = *static_cast<const colibri_quantize_rows_args*>(arguments);
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    quantize_row<S>(f32_row(call.input, row), tensor_row(call.output, row), call.input.shape[1]);
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
