// SPDX-License-Identifier: Apache-2.0
// Keys and values into their caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/quantize_rows.h"
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

// n numbers as parts of q8_0; put(part, q) places the integers of one of them.
template <class S, class Put>
void write_parts(const float* x, Q8Part* parts, int64_t place, int64_t n, Put put) {
  for (int64_t part = 0; part < q8_parts(n); ++part) {
    int8_t q[Q8Part::kNumbers];
    float d;
    int16_t sum[2];
    quantize_padded<S>(x + part * Q8Part::kNumbers, n - part * Q8Part::kNumbers, {q, &d, sum}, 0);
    uint16_t rounded[S::kLanes];
    S::store_f16(rounded, S::set(d));
    parts[part].d[place] = rounded[0];
    put(parts[part], q);
  }
}
template <class S>
void write_key(const float* k, Q8Part* block, int64_t place, int64_t head_dim) {
  write_parts<S>(k, block, place, head_dim, [place](Q8Part& part, const int8_t* q) {
    for (int i = 0; i < 8; ++i) std::memcpy(part.q + i * 64 + place * 4, q + i * 4, 4);
  });
}
template <class S>
void write_value(const float* v, Q8Part* block, int64_t place, int64_t head_dim) {
  write_parts<S>(v, block, place, head_dim, [place](Q8Part& part, const int8_t* q) {
    for (int i = 0; i < 2; ++i) std::memcpy(part.q + i * 256 + place * 16, q + i * 16, 16);
  });
}

// A key and, unless v is nullptr, its value.
template <class S, class T>
void write_pair(const float* k, const float* v, const KeyValueCache& cache, int64_t block,
                int64_t place, int64_t head_dim) {
  write_key<S>(k, reinterpret_cast<T*>(cache.keys) + block * key_block_size<T>(head_dim), place,
               head_dim);
  if (v == nullptr) return;
  write_value<S>(v, reinterpret_cast<T*>(cache.values) + block * value_block_size<T>(head_dim),
                 place, head_dim);
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
      if (a.cache_dtype == COLIBRI_CODEC_Q8_0) {
        write_pair<S, Q8Part>(k, v, cache, block, place, a.head_dim);
      } else if (a.cache_dtype == COLIBRI_CODEC_F16) {
        write_pair<S, uint16_t>(k, v, cache, block, place, a.head_dim);
      } else {
        write_pair<S, float>(k, v, cache, block, place, a.head_dim);
      }
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
