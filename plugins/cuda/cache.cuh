// SPDX-License-Identifier: Apache-2.0
// The key and value cache in f32 or f16 (colibri/kernels.h), and what the host knows of a row that
// meets it.
#pragma once

#include <type_traits>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cuda/numbers.cuh"

namespace colibri::cuda {

struct CachedRow {
  uint8_t *keys, *values;  // the caches of its sequence
  int32_t position, blocks;
};
struct CachedRows {
  CachedRow row[kLaunchRows];
};

// The rows [begin, begin + count) of a call of kv_write or attention.
template <typename Arguments>
colibri_status find_rows(const Arguments& call, uint32_t dtype, int64_t kv_heads, int64_t head_dim,
                         bool keys_only, int64_t begin, int64_t count, CachedRows* found) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = begin + i;
    const int64_t sequence = call.sequence == nullptr ? 0 : call.sequence[row];
    const int64_t position = call.position[row];
    if (sequence < 0 || position < 0) return COLIBRI_INVALID_ARGUMENT;
    const cpu::KeyValueCache cache =
        keys_only ? cpu::key_cache(call.k_cache[sequence], dtype, kv_heads, head_dim)
                  : cpu::key_value_cache(call.k_cache[sequence], call.v_cache[sequence], dtype,
                                         kv_heads, head_dim);
    if (cache.keys == nullptr || position >= cache.blocks * COLIBRI_KV_BLOCK)
      return COLIBRI_INVALID_ARGUMENT;
    found->row[i] = {cache.keys, cache.values, static_cast<int32_t>(position),
                     static_cast<int32_t>(cache.blocks)};
  }
  return COLIBRI_OK;
}

// T: float, or uint16_t for f16.
template <typename T>
__device__ inline float cached(T number) {
  if constexpr (std::is_same_v<T, float>) {
    return number;
  } else {
    return f32_of_f16(number);
  }
}
template <typename T>
__device__ inline T to_cache(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return f16_of_f32(x);
  }
}

// Of block `block` of a head: key i of number d at [d][i], value i of number d at [d / 16][i][d % 16].
template <typename T>
__device__ inline T* key_block(const CachedRow& row, int64_t head, int64_t block,
                               int64_t head_dim) {
  return reinterpret_cast<T*>(row.keys) + (head * row.blocks + block) * head_dim * 16;
}
template <typename T>
__device__ inline T* value_block(const CachedRow& row, int64_t head, int64_t block, int64_t tiles) {
  return reinterpret_cast<T*>(row.values) + (head * row.blocks + block) * tiles * 256;
}

}  // namespace colibri::cuda
