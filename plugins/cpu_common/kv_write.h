// SPDX-License-Identifier: Apache-2.0
// Keys and values into their caches.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// One key of one head: its numbers are 16 apart. One value of one head: tiles of 16 numbers.
template <class S>
void write_key(const float* k, float* block, int64_t place, int64_t head_dim) {
  for (int64_t i = 0; i < head_dim; ++i) block[i * COLIBRI_KV_BLOCK + place] = k[i];
}
template <class S>
void write_key(const float* k, uint16_t* block, int64_t place, int64_t head_dim) {
  for (int64_t i = 0; i < head_dim; i += S::kLanes) {
    const int64_t n = head_dim - i < S::kLanes ? head_dim - i : S::kLanes;
    uint16_t rounded[S::kLanes];
    S::store_f16(rounded, S::load_first(k + i, n));
    for (int64_t j = 0; j < n; ++j) block[(i + j) * COLIBRI_KV_BLOCK + place] = rounded[j];
  }
}
template <class S>
void write_value(const float* v, float* block, int64_t place, int64_t head_dim) {
  for (int64_t i = 0; i < value_tiles(head_dim) * 16; i += S::kLanes) {
    const int64_t n = std::clamp<int64_t>(head_dim - i, 0, S::kLanes);
    S::store(block + i / 16 * 256 + place * 16 + i % 16, S::load_first(v + (n > 0 ? i : 0), n));
  }
}
template <class S>
void write_value(const float* v, uint16_t* block, int64_t place, int64_t head_dim) {
  for (int64_t i = 0; i < value_tiles(head_dim) * 16; i += S::kLanes) {
    const int64_t n = std::clamp<int64_t>(head_dim - i, 0, S::kLanes);
    S::store_f16(block + i / 16 * 256 + place * 16 + i % 16, S::load_first(v + (n > 0 ? i : 0), n));
  }
}

// A key and, unless v is nullptr, its value.
template <class S, class T>
void write_pair(const float* k, const float* v, const KeyValueCache& cache, int64_t block,
                int64_t place, int64_t head_dim) {
  write_key<S>(k, reinterpret_cast<T*>(cache.keys) + block * key_block_size(head_dim), place,
               head_dim);
  if (v == nullptr) return;
  write_value<S>(v, reinterpret_cast<T*>(cache.values) + block * value_block_size(head_dim), place,
                 head_dim);
}

template <class S>
colibri_status run_kv_write(const OperatorState& state, const void* arguments, TaskRange tasks,
                            void*) {
  const auto& call = *static_cast<const colibri_kv_write_args*>(arguments);
  const auto& a = state.kv_write;
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const int64_t sequence = call.sequence == nullptr ? 0 : call.sequence[row];
    const int64_t position = call.position[row];
    if (sequence < 0 || position < 0) return COLIBRI_INVALID_ARGUMENT;
    const KeyValueCache cache =
        a.keys_only == 1 ? key_cache(call.k_cache[sequence], a.cache_dtype, a.kv_heads, a.head_dim)
                         : key_value_cache(call.k_cache[sequence], call.v_cache[sequence],
                                           a.cache_dtype, a.kv_heads, a.head_dim);
    if (cache.keys == nullptr || position >= cache.blocks * COLIBRI_KV_BLOCK)
      return COLIBRI_INVALID_ARGUMENT;
    const int64_t place = position % COLIBRI_KV_BLOCK;
    for (int64_t head = 0; head < a.kv_heads; ++head) {
      const int64_t block = head * cache.blocks + position / COLIBRI_KV_BLOCK;
      const float* k = f32_row(call.k, row) + head * a.head_dim;
      const float* v = a.keys_only == 1 ? nullptr : f32_row(call.v, row) + head * a.head_dim;
      if (a.cache_dtype == COLIBRI_CODEC_F16) {
        write_pair<S, uint16_t>(k, v, cache, block, place, a.head_dim);
      } else {
        write_pair<S, float>(k, v, cache, block, place, a.head_dim);
      }
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
