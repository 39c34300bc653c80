// SPDX-License-Identifier: Apache-2.0
// Views of matrices, and rows of activations between operators.
#pragma once

#include <cstdint>

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
  // They begin `offset` bytes into `memory`, which may be a device's.
  Rows(uint32_t dtype, int64_t cols, std::byte* memory, uint64_t offset = 0)
      : dtype_(dtype), cols_(cols), memory_(memory), offset_(offset) {}

  static uint64_t bytes(uint32_t dtype, int64_t rows, int64_t cols) {
    return align_up(static_cast<uint64_t>(rows) * row_bytes(dtype, cols));
  }
  colibri_tensor view(int64_t rows) const {
    colibri_tensor tensor = matrix(dtype_, COLIBRI_LAYOUT_ROWS, rows, cols_, memory_);
    tensor.offset = offset_;
    return tensor;
  }
  // Rows [first, first + n).
  colibri_tensor view(int64_t first, int64_t n) const {
    colibri_tensor tensor = view(n);
    tensor.offset += static_cast<uint64_t>(first) * row_bytes(dtype_, cols_);
    return tensor;
  }

 private:
  uint32_t dtype_ = COLIBRI_CODEC_F32;
  int64_t cols_ = 0;
  std::byte* memory_ = nullptr;
  uint64_t offset_ = 0;
};

// The first byte of a view: an address of the host's, or of a device's.
inline std::byte* address(const colibri_tensor& tensor) {
  return static_cast<std::byte*>(tensor.buffer) + tensor.offset;
}

// Columns [first, first + cols) of f32 rows.
inline colibri_tensor columns(colibri_tensor rows, int64_t first, int64_t cols) {
  rows.shape[1] = cols;
  rows.offset += static_cast<uint64_t>(first) * sizeof(float);
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
