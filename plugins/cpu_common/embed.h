// SPDX-License-Identifier: Apache-2.0
// Rows of a packed table as f32. One row of eight is read, so there is nothing to gain from
// vectors.
#pragma once

#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/packed_part.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/views.h"
#include "runtime/base/decode_row.h"
#include "runtime/base/small_floats.h"

namespace colibri::cpu {

static COLIBRI_INLINE uint16_t load_u16(const uint8_t* p) {
  uint16_t x;
  std::memcpy(&x, p, 2);
  return x;
}

// Row r of the panel, cols numbers, times the scale.
static inline void unpack_row(uint32_t codec, const uint8_t* panel, int64_t r, float scale,
                              float* out, int64_t cols) {
  switch (codec) {
    case COLIBRI_CODEC_F32:
      for (int64_t i = 0; i < cols; ++i) {
        float w;
        std::memcpy(&w, panel + (i * 8 + r) * 4, 4);
        out[i] = scale * w;
      }
      break;
    case COLIBRI_CODEC_F16:
      for (int64_t i = 0; i < cols; ++i)
        out[i] = scale * f32_from_f16(load_u16(panel + (i * 8 + r) * 2));
      break;
    case COLIBRI_CODEC_BF16:
      for (int64_t i = 0; i < cols; ++i)
        out[i] = scale * f32_from_bf16(load_u16(panel + (i * 8 + r) * 2));
      break;
    default:
      break;
  }
}

// Row `row` of a quantised table.
static inline void unpack_quantised_row(uint32_t codec, const uint8_t* table, int64_t row,
                                        float scale, float* out, int64_t cols) {
  for (int64_t part = 0; part < cols / kBlockCols; ++part) {
    float numbers[kBlockCols];
    packed_part(codec, table, cols, row, part).numbers(numbers);
    for (int64_t i = 0; i < kBlockCols; ++i) out[part * kBlockCols + i] = scale * numbers[i];
  }
}

// The same of a codec that stands row by row.
static inline void decode_scaled(uint32_t codec, const uint8_t* row, float scale, float* out,
                                 int64_t cols) {
  decode_row(codec, row, cols, out);
  for (int64_t i = 0; i < cols; ++i) out[i] = scale * out[i];
}

static inline colibri_status run_embed(const OperatorState& state, const void* arguments,
                                       TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_embed_args*>(arguments);
  const uint8_t* table = packed_weight(state, call.table);
  const auto* ids = reinterpret_cast<const int32_t*>(tensor_bytes(call.ids));
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const int64_t id = ids[row];
    if (id < 0 || id >= state.rows) return COLIBRI_INVALID_ARGUMENT;
    if (state.weight_layout == COLIBRI_LAYOUT_ROWS) {
      decode_scaled(state.weight_codec, table + id * file_row_bytes(state.weight_codec, state.cols),
                    state.embed.scale, f32_row(call.output, row), state.cols);
      continue;
    }
    if (is_quantised_codec(state.weight_codec)) {
      unpack_quantised_row(state.weight_codec, table, id, state.embed.scale,
                           f32_row(call.output, row), state.cols);
      continue;
    }
    const uint8_t* panel = table + id / kPanelRows * panel_bytes(state.weight_codec, state.cols);
    unpack_row(state.weight_codec, panel, id % kPanelRows, state.embed.scale,
               f32_row(call.output, row), state.cols);
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
