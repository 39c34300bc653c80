// SPDX-License-Identifier: Apache-2.0
// The key and value cache (colibri/kernels.h), and what the host knows of a row that meets it. T is
// what a cache is an array of: float, uint16_t for f16, or cpu::Q8Part.
#pragma once

#include <type_traits>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cuda/numbers.cuh"

namespace colibri::cuda {

using cpu::Q8Part;

struct CachedRow {
  uint8_t *keys, *values;  // the caches of its sequence; values may be nullptr
  int32_t position, blocks;
};
struct CachedRows {
  CachedRow row[kLaunchRows];
};

// The rows [begin, begin + count) of a call. cache_of(sequence) gives the cpu::KeyValueCache.
template <typename CacheOf>
colibri_status find_rows(const int32_t* position, const int32_t* sequence, int64_t begin,
                         int64_t count, CacheOf cache_of, CachedRows* found) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t of_row = sequence == nullptr ? 0 : sequence[begin + i];
    const int64_t at = position[begin + i];
    if (of_row < 0 || at < 0) return COLIBRI_INVALID_ARGUMENT;
    const cpu::KeyValueCache cache = cache_of(of_row);
    if (cache.keys == nullptr || at >= cache.blocks * COLIBRI_KV_BLOCK)
      return COLIBRI_INVALID_ARGUMENT;
    found->row[i] = {cache.keys, cache.values, static_cast<int32_t>(at),
                     static_cast<int32_t>(cache.blocks)};
  }
  return COLIBRI_OK;
}

// Calls with<T>() for the cache of a codec.
template <typename With>
colibri_status with_cache(uint32_t dtype, With with) {
  switch (dtype) {
    case COLIBRI_CODEC_F32:
      return with.template operator()<float>();
    case COLIBRI_CODEC_F16:
      return with.template operator()<uint16_t>();
    default:
      return with.template operator()<Q8Part>();
  }
}

template <typename T>
constexpr bool kIsQuantised = std::is_same_v<T, Q8Part>;

// T from one block of 16 keys to the next.
template <typename T>
__device__ inline int64_t key_block_size(int64_t dims) {
  return kIsQuantised<T> ? (dims + 31) / 32 : dims * 16;
}
template <typename T>
__device__ inline int64_t value_block_size(int64_t dims) {
  return kIsQuantised<T> ? (dims + 31) / 32 : (dims + 15) / 16 * 256;
}
template <typename T>
__device__ inline T* key_block(const CachedRow& row, int64_t head, int64_t block, int64_t dims) {
  return reinterpret_cast<T*>(row.keys) + (head * row.blocks + block) * key_block_size<T>(dims);
}
template <typename T>
__device__ inline T* value_block(const CachedRow& row, int64_t head, int64_t block, int64_t dims) {
  return reinterpret_cast<T*>(row.values) + (head * row.blocks + block) * value_block_size<T>(dims);
}

// Where number d of the key or value in place i of a block stands: of q8_0 among the q of its part.
template <typename T>
__device__ inline int64_t key_place(int64_t d, int64_t i) {
  return kIsQuantised<T> ? d % 32 / 4 * 64 + i * 4 + d % 4 : d * 16 + i;
}
template <typename T>
__device__ inline int64_t value_place(int64_t d, int64_t i) {
  const int64_t in_part = kIsQuantised<T> ? d % 32 : d;
  return in_part / 16 * 256 + i * 16 + in_part % 16;
}

// The number at a place.
template <typename T>
__device__ inline float cached(const T* block, int64_t d, int64_t i, int64_t place) {
  if constexpr (std::is_same_v<T, float>) {
    return block[place];
  } else if constexpr (std::is_same_v<T, uint16_t>) {
    return f32_of_f16(block[place]);
  } else {
    const Q8Part& part = block[d / 32];
    return f32_of_f16(part.d[i]) * static_cast<float>(part.q[place]);
  }
}
template <typename T>
__device__ inline float cached_key(const T* block, int64_t d, int64_t i) {
  return cached(block, d, i, key_place<T>(d, i));
}
template <typename T>
__device__ inline float cached_value(const T* block, int64_t d, int64_t i) {
  return cached(block, d, i, value_place<T>(d, i));
}

}  // namespace colibri::cuda
