// SPDX-License-Identifier: Apache-2.0
// The key and value cache: sizes of what kernels.h says in words. A cache is an array of T: float,
// uint16_t (f16) or Q8Part.
#pragma once

#include <cstdint>
#include <type_traits>

#include "colibri/kernels.h"

namespace colibri::cpu {

// 32 numbers of each of 16 keys or values in q8_0; a number is d times q.
struct Q8Part {
  static constexpr int64_t kNumbers = 32;
  uint16_t d[COLIBRI_KV_BLOCK];           // f16
  int8_t q[kNumbers * COLIBRI_KV_BLOCK];  // of keys [8][16 keys][4], of values [2][16 keys][16]
};
static_assert(sizeof(Q8Part) == 544);

static inline bool is_cache_codec(uint32_t codec) {
  return codec == COLIBRI_CODEC_F32 || codec == COLIBRI_CODEC_F16 || codec == COLIBRI_CODEC_Q8_0;
}
static inline int64_t q8_parts(int64_t n) {
  return (n + Q8Part::kNumbers - 1) / Q8Part::kNumbers;
}
static inline int64_t value_tiles(int64_t head_dim) {
  return (head_dim + 15) / 16;
}

// T from one block of 16 keys to the next in the key and in the value cache of one head.
template <class T>
static inline int64_t key_block_size(int64_t head_dim) {
  if constexpr (std::is_same_v<T, Q8Part>) return q8_parts(head_dim);
  return head_dim * COLIBRI_KV_BLOCK;
}
template <class T>
static inline int64_t value_block_size(int64_t head_dim) {
  if constexpr (std::is_same_v<T, Q8Part>) return q8_parts(head_dim);
  return value_tiles(head_dim) * 16 * COLIBRI_KV_BLOCK;
}

// Numbers of a key and of a value with their padding: shape[2] of a cache's tensor.
static inline int64_t cached_key_width(uint32_t codec, int64_t head_dim) {
  return codec == COLIBRI_CODEC_Q8_0 ? q8_parts(head_dim) * Q8Part::kNumbers : head_dim;
}
static inline int64_t cached_value_width(uint32_t codec, int64_t head_dim) {
  return codec == COLIBRI_CODEC_Q8_0 ? q8_parts(head_dim) * Q8Part::kNumbers
                                     : value_tiles(head_dim) * 16;
}

}  // namespace colibri::cpu
