// SPDX-License-Identifier: Apache-2.0
// Checks of the arguments of a call, so that a mistake of the caller is an error and not a wild
// read.
#pragma once

#include <cstdint>

#include "colibri/kernels.h"
#include "plugins/cpu_common/operators.h"

namespace colibri::cpu {

// Whether sizes, codecs, shapes and pointers fit the operator. What single rows say (ids,
// positions, indices, the weights of a group) is checked where it is used. [any]
bool arguments_fit(const OperatorState& state, const void* arguments);

// The packed bytes of a weight; nullptr if it is not what the operator was created for. [any]
const uint8_t* packed_weight(const OperatorState& state, const colibri_tensor& weight);

// The numbers of a bias, one for each row of the weight; nullptr if it is not such a tensor. [any]
const float* bias_numbers(const OperatorState& state, const colibri_tensor& bias);

// The caches of one sequence, checked against kv_heads, head_dim and the codec.
struct KeyValueCache {
  uint8_t* keys = nullptr;    // nullptr = the arguments do not fit
  uint8_t* values = nullptr;  // nullptr if there are only keys
  int64_t blocks = 0;         // of 16 keys, in each head
};
KeyValueCache key_value_cache(const colibri_tensor& keys, const colibri_tensor& values,
                              uint32_t dtype, int64_t kv_heads, int64_t head_dim);

// The same of a cache that holds keys only.
KeyValueCache key_cache(const colibri_tensor& keys, uint32_t dtype, int64_t kv_heads,
                        int64_t head_dim);

// The number at place i of a list of rows; without a list it is i.
static inline int64_t indexed(const int32_t* list, int64_t i) {
  return list == nullptr ? i : list[i];
}

}  // namespace colibri::cpu
