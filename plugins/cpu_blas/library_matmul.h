// SPDX-License-Identifier: Apache-2.0
// grouped_matmul with float weights through a library's product of f32 matrices. A strip of panels
// is unpacked to a matrix [cols][columns] of f32, which the library multiplies with the rows. The
// order of its sums is its own: approximate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/description.h"
#include "plugins/cpu_common/frontend.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/scalar_epilogue.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "runtime/base/decode_row.h"

namespace colibri::cpu_blas {

constexpr int64_t kStripPanels = 16;
constexpr int64_t kStripColumns = kStripPanels * cpu::kPanelRows;

// c[m][n] = a[m][k] * b[k][n], row-major, f32; lda, ldb, ldc numbers from one row to the next.
struct Product {
  int64_t m, n, k;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
};

// A worker's memory.
struct Scratch {
  float* input;        // [kTaskRows][cols]
  float* strip;        // [cols][kStripColumns]
  float* products[2];  // each [kTaskRows][kStripColumns]

  explicit Scratch(void* memory, int64_t cols)
      : input(static_cast<float*>(memory)), strip(input + cpu::kTaskRows * cols) {
    products[0] = strip + cols * kStripColumns;
    products[1] = products[0] + cpu::kTaskRows * kStripColumns;
  }
  static int64_t bytes(const cpu::OperatorState& state) {
    const int64_t columns = cpu::kTaskRows + kStripColumns;
    return (state.cols * columns + 2 * cpu::kTaskRows * kStripColumns) * int64_t{sizeof(float)};
  }
};

// Panels one after another, each [cols][8], to one matrix [cols][8 * count].
inline void unpack(uint32_t codec, const uint8_t* panels, int64_t count, int64_t cols, float* to) {
  const int64_t row_bytes = cpu::file_row_bytes(codec, cpu::kPanelRows);
  for (int64_t panel = 0; panel < count; ++panel) {
    for (int64_t k = 0; k < cols; ++k, panels += row_bytes) {
      decode_row(codec, panels, cpu::kPanelRows, to + (k * count + panel) * cpu::kPanelRows);
    }
  }
}

// The part's rows side by side; false if one lies outside of the input.
inline bool gather(const colibri_grouped_matmul_args& call, cpu::ProductPart part, int64_t cols,
                   float* to) {
  for (int64_t i = part.row_begin; i < part.row_end; ++i, to += cols) {
    const int64_t row = cpu::indexed(call.row_index, i);
    if (row < 0 || row >= call.input.shape[0]) return false;
    std::memcpy(to, cpu::f32_row(call.input, row), static_cast<size_t>(cols) * sizeof(float));
  }
  return true;
}

// Library: static void multiply(const Product&), on the calling thread alone.
template <class Library>
colibri_status run_part(const cpu::OperatorState& state, const colibri_grouped_matmul_args& call,
                        cpu::ProductPart part, const Scratch& scratch) {
  const auto& a = state.grouped_matmul;
  if (!gather(call, part, state.cols, scratch.input)) return COLIBRI_INVALID_ARGUMENT;
  const int64_t rows = part.row_end - part.row_begin;
  for (int64_t begin = part.panel_begin; begin < part.panel_end; begin += kStripPanels) {
    const int64_t panels = std::min(kStripPanels, part.panel_end - begin);
    const int64_t first = begin * cpu::kPanelRows;
    const int64_t columns = std::min(panels * cpu::kPanelRows, state.rows - first);
    const float* bias[2] = {};
    for (uint32_t i = 0; i < call.weights_per_group; ++i) {
      const int64_t at = part.group * call.weights_per_group + i;
      const uint8_t* weight = cpu::packed_weight(state, call.weight[at]);
      if (weight == nullptr) return COLIBRI_INVALID_ARGUMENT;
      if (a.bias == 1) {
        bias[i] = cpu::bias_numbers(state, call.bias[at]);
        if (bias[i] == nullptr) return COLIBRI_INVALID_ARGUMENT;
        bias[i] += first;
      }
      unpack(state.weight_codec, weight + begin * cpu::panel_bytes(state.weight_codec, state.cols),
             panels, state.cols, scratch.strip);
      Library::multiply({rows, columns, state.cols, scratch.input, state.cols, scratch.strip,
                         panels * cpu::kPanelRows, scratch.products[i], kStripColumns});
    }
    for (int64_t t = 0; t < rows; ++t) {
      const int64_t row = cpu::indexed(call.output_index, part.row_begin + t);
      if (row < 0 || row >= call.output.shape[0]) return COLIBRI_INVALID_ARGUMENT;
      float* out = cpu::f32_row(call.output, row) + first;
      const float* gate = scratch.products[0] + t * kStripColumns;
      const float* up = scratch.products[1] + t * kStripColumns;
      for (int64_t j = 0; j < columns; ++j) {
        const float sums[2] = {bias[0] == nullptr ? gate[j] : gate[j] + bias[0][j],
                               bias[1] == nullptr ? up[j] : up[j] + bias[1][j]};
        out[j] = cpu::finished(a, *state.math, sums);
      }
    }
  }
  return COLIBRI_OK;
}

template <class Library>
colibri_status grouped_matmul(const cpu::OperatorState& state, const void* arguments,
                              cpu::TaskRange tasks, void* memory) {
  const auto& call = *static_cast<const colibri_grouped_matmul_args*>(arguments);
  const Scratch scratch(memory, state.cols);
  return cpu::for_each_part(state, call, tasks, [&](cpu::ProductPart part) {
    return run_part<Library>(state, call, part, scratch);
  });
}

// Float weights, f32 rows; all else is left to other plugins.
inline int32_t supports(const colibri_op_desc* desc, char why_not[128]) {
  cpu::OperatorState state;
  if (!cpu::understand(desc, cpu::Weights::kAnyLayout, &state, why_not)) return 0;
  const char* reason = nullptr;
  if (state.op != COLIBRI_OP_GROUPED_MATMUL) {
    reason = "offers grouped_matmul only";
  } else if (!cpu::is_float_codec(state.weight_codec)) {
    reason = "multiplies f32, f16 and bf16 weights only";
  } else if (state.grouped_matmul.output_dtype != COLIBRI_CODEC_F32) {
    reason = "writes f32 rows only";
  }
  if (reason == nullptr) return 1;
  if (why_not != nullptr) std::snprintf(why_not, 128, "%s", reason);
  return 0;
}

template <class Library>
inline constexpr cpu::Operators kOperators = [] {
  cpu::Operators operators = {};
  operators.code[COLIBRI_OP_GROUPED_MATMUL] = {grouped_matmul<Library>, Scratch::bytes};
  return operators;
}();

inline constexpr uint32_t kAttributeSize[COLIBRI_OP_COUNT] = {
    0, 0, 0, 0, sizeof(colibri_grouped_matmul_attributes)};

template <class Library>
constexpr colibri_kernels_0 table_of() {
  colibri_kernels_0 table = cpu::kernel_table<kOperators<Library>>();
  table.numerics = COLIBRI_NUMERICS_APPROXIMATE;
  table.supports = supports;
  table.op_create = [](const colibri_op_desc* desc, const colibri_host* host, void* state,
                       colibri_op_info* info, colibri_error* error) {
    char why_not[128] = "";
    if (supports(desc, why_not) == 0) return cpu::fail(error, COLIBRI_UNSUPPORTED, why_not);
    return cpu::create(kOperators<Library>, desc, host, state, info, error);
  };
  table.attribute_size = kAttributeSize;
  return table;
}

}  // namespace colibri::cpu_blas
