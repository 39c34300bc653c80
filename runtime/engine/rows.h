// SPDX-License-Identifier: Apache-2.0
// Views of matrices, and rows of activations between operators.
#pragma once

#include <cstdint>
#include <cstring>

#include "colibri/kernels.h"
#include "runtime/base/memory.h"

namespace colibri::engine {

// Bytes from one row of activations to the next; dtype f32 or q8_32 (docs/numerics.md).
inline uint64_t row_bytes(uint32_t dtype, int64_t cols) {
  const auto n = static_cast<uint64_t>(cols);
  return dtype == COLIBRI_CODEC_F32 ? n * 4 : align_up(n + n / 32 * 8);
}

// A row-major or packed matrix [rows, cols]. The stride is that of activations; weights that are
// stored row-major set their own.
inline colibri_tensor matrix(uint32_t dtype, uint32_t layout, int64_t rows, int64_t cols,
                             void* buffer = nullptr) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = dtype;
  tensor.layout = layout;
  tensor.rank = 2;
  tensor.shape[0] = rows;
  tensor.shape[1] = cols;
  if (dtype == COLIBRI_CODEC_F32 || dtype == COLIBRI_CODEC_Q8_32) {
    tensor.stride[0] = static_cast<int64_t>(row_bytes(dtype, cols));
    tensor.stride[1] = dtype == COLIBRI_CODEC_F32 ? 4 : 1;
  }
  tensor.buffer = buffer;
  return tensor;
}

// f32 row-major vector of n elements.
inline colibri_tensor vector(int64_t n, void* buffer = nullptr) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = COLIBRI_CODEC_F32;
  tensor.rank = 1;
  tensor.shape[0] = n;
  tensor.stride[0] = 4;
  tensor.buffer = buffer;
  return tensor;
}

// Memory for up to `rows` rows of activations, and views of the first n of them.
class Rows {
 public:
  Rows() = default;
  Rows(uint32_t dtype, int64_t cols, std::byte* memory)
      : dtype_(dtype), cols_(cols), memory_(memory) {}

  static uint64_t bytes(uint32_t dtype, int64_t rows, int64_t cols) {
    return align_up(static_cast<uint64_t>(rows) * row_bytes(dtype, cols));
  }
  colibri_tensor view(int64_t rows) const {
    return matrix(dtype_, COLIBRI_LAYOUT_ROWS, rows, cols_, memory_);
  }
  // Row i becomes row index[i], n rows; the index is ascending.
  void gather(const int32_t* index, int64_t n) const {
    const uint64_t bytes = row_bytes(dtype_, cols_);
    for (int64_t i = 0; i < n; ++i) {
      if (index[i] == i) continue;
      std::memcpy(memory_ + static_cast<uint64_t>(i) * bytes,
                  memory_ + static_cast<uint64_t>(index[i]) * bytes, bytes);
    }
  }

 private:
  uint32_t dtype_ = COLIBRI_CODEC_F32;
  int64_t cols_ = 0;
  std::byte* memory_ = nullptr;
};

// Columns [first, first + cols) of f32 rows.
inline colibri_tensor columns(colibri_tensor rows, int64_t first, int64_t cols) {
  rows.shape[1] = cols;
  rows.buffer = static_cast<float*>(rows.buffer) + first;
  return rows;
}

// Dense f32 rows [rows, heads * cols] as [rows * heads, cols].
inline colibri_tensor heads_of(colibri_tensor rows, int64_t heads) {
  rows.shape[0] *= heads;
  rows.shape[1] /= heads;
  rows.stride[0] /= heads;
  return rows;
}

}  // namespace colibri::engine
