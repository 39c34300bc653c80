// SPDX-License-Identifier: Apache-2.0
// Rows of tensors.
#pragma once

#include <cstdint>

#include "colibri/kernels.h"

namespace colibri::cpu {

static inline uint8_t* tensor_bytes(const colibri_tensor& tensor) {
  return static_cast<uint8_t*>(tensor.buffer) + tensor.offset;
}
static inline uint8_t* tensor_row(const colibri_tensor& tensor, int64_t row) {
  return tensor_bytes(tensor) + row * tensor.stride[0];
}
static inline float* f32_row(const colibri_tensor& tensor, int64_t row) {
  return reinterpret_cast<float*>(tensor_row(tensor, row));
}
static inline int32_t* i32_row(const colibri_tensor& tensor, int64_t row) {
  return reinterpret_cast<int32_t*>(tensor_row(tensor, row));
}

}  // namespace colibri::cpu
