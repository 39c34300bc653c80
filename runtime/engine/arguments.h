// SPDX-License-Identifier: Apache-2.0
// The arguments of operators that every part of the forward pass calls.
#pragma once

#include "runtime/engine/layers.h"
#include "runtime/engine/rows.h"

namespace colibri::engine {

template <typename Arguments>
Arguments arguments() {
  Arguments made = {};
  made.struct_size = sizeof(made);
  return made;
}

// A product with one weight: one group of all rows of the output. Without an operator it is nothing.
class Product {
 public:
  // The input as it is and as q8_32; the weight takes one of them. row_index: the input's row of
  // each of the output's; null = the same.
  Product(const Linear& linear, const colibri_tensor& input, const colibri_tensor& input_prepared,
          const colibri_tensor& output, const int32_t* row_index = nullptr)
      : groups_{0, output.shape[0]}, arguments_(arguments<colibri_grouped_matmul_args>()) {
    if (linear.op == nullptr) return;
    arguments_.weights_per_group = 1;
    arguments_.groups = 1;
    arguments_.group_begin = groups_;
    arguments_.row_index = row_index;
    arguments_.weight = &linear.weight->tensor;
    arguments_.bias = linear.bias == nullptr ? nullptr : &linear.bias->tensor;
    arguments_.input = prepared(*linear.weight) ? input_prepared : input;
    arguments_.output = output;
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  const void* get() const { return &arguments_; }

 private:
  const int64_t groups_[2];
  colibri_grouped_matmul_args arguments_;
};

inline colibri_norm_args norm_arguments(const Norm& norm, const colibri_tensor& input,
                                        const colibri_tensor& output) {
  auto made = arguments<colibri_norm_args>();
  if (norm.op != nullptr) made.weight = norm.weight->tensor;
  made.input = input;
  made.output = output;
  return made;
}

inline colibri_quantize_rows_args quantize_arguments(const colibri_tensor& input,
                                                     const colibri_tensor& output) {
  auto made = arguments<colibri_quantize_rows_args>();
  made.input = input;
  made.output = output;
  return made;
}

}  // namespace colibri::engine
