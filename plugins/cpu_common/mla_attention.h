// SPDX-License-Identifier: Apache-2.0
// Attention to a cache of latent keys: the heads share one key per token, and its latent part is
// the value too (docs/numerics.md, "mla_attention").
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/attention.h"
#include "plugins/cpu_common/attention_splits.h"
#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

struct LatentScratch {
  static constexpr int64_t kMostQueries = kLatentRows * kLatentHeads;
  AttentionScratch attention;
  float* q;       // [queries][latent + rope_dims]
  float* values;  // of a step, in the order of a value cache

  static COLIBRI_INLINE int64_t width(const colibri_mla_attention_attributes& a) {
    return value_tiles(a.latent) * 16;
  }
  static COLIBRI_INLINE int64_t bytes(const colibri_mla_attention_attributes& a) {
    const int64_t key_dim = a.latent + a.rope_dims;
    return AttentionScratch::bytes(kMostQueries, a.cache_dtype, key_dim, width(a)) +
           kMostQueries * key_dim * 4 + kStepKeys * width(a) * 4;
  }
  COLIBRI_INLINE LatentScratch(const colibri_mla_attention_attributes& a, void* memory)
      : attention(kMostQueries, a.cache_dtype, a.latent + a.rope_dims, width(a), memory),
        q(reinterpret_cast<float*>(attention.end)),
        values(q + kMostQueries * (a.latent + a.rope_dims)) {}
};

// The values of a block, which are the first `latent` numbers of its keys, from [d][16 keys] to tiles
// [16 keys][16 d]. What follows them in the last tile does not matter.
template <class S, class T>
void turn_values(const T* block, int64_t latent, float* tiles) {
  for (int64_t tile = 0; tile < value_tiles(latent); ++tile, tiles += 256) {
    const int64_t n = std::min<int64_t>(16, latent - tile * 16);
    float numbers[16][16] = {};  // [d][key]
    for (int64_t d = 0; d < n; ++d)
      load_lanes<S>(block + (tile * 16 + d) * COLIBRI_KV_BLOCK).store(numbers[d]);
    for (int64_t key = 0; key < 16; ++key) {
      for (int64_t d = 0; d < 16; ++d) tiles[key * 16 + d] = numbers[d][key];
    }
  }
}
template <class S>
void turn_values(const Q8Part* block, int64_t latent, float* tiles) {
  for (int64_t tile = 0; tile < value_tiles(latent); ++tile, tiles += 256) {
    const Q8Part& part = block[tile / 2];
    const int8_t* fours = part.q + tile % 2 * 256;  // [4][16 keys][4]
    float d[16];
    Lanes16<S>::load_f16(part.d).store(d);
    for (int64_t key = 0; key < 16; ++key) {
      int8_t q[16];
      for (int64_t i = 0; i < 4; ++i) std::memcpy(q + i * 4, fours + i * 64 + key * 4, 4);
      load_scaled<S>(q, d[key]).store(tiles + key * 16);
    }
  }
}

// Latent keys of one sequence, whose values are turned once for all queries.
template <class S, class T>
struct LatentKeys {
  const T* keys;
  int64_t latent, key_dim;
  float scale;
  float* values;

  StepKeys<T, float> step(int64_t first, int64_t end) const {
    const T* block = keys + first / COLIBRI_KV_BLOCK * key_block_size<T>(key_dim);
    for (int64_t i = 0; first + i * COLIBRI_KV_BLOCK < end; ++i) {
      float* tiles = values + i * value_block_size<float>(latent);
      turn_values<S>(block + i * key_block_size<T>(key_dim), latent, tiles);
    }
    return {block, values, first, key_dim, scale};
  }
};

// Heads [head, head_end) of the rows [begin, end) of one sequence.
template <class S>
colibri_status attend_latent_rows(const OperatorState& state,
                                  const colibri_mla_attention_args& call, int64_t begin,
                                  int64_t end, int64_t head, int64_t head_end,
                                  const LatentScratch& scratch) {
  const auto& a = state.mla_attention;
  const int64_t key_dim = a.latent + a.rope_dims;
  const int64_t sequence = call.sequence == nullptr ? 0 : call.sequence[begin];
  if (sequence < 0) return COLIBRI_INVALID_ARGUMENT;
  const KeyValueCache cache = key_cache(call.cache[sequence], a.cache_dtype, 1, key_dim);
  if (cache.keys == nullptr) return COLIBRI_INVALID_ARGUMENT;
  int64_t count = 0;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t position = call.position[row];
    if (position < 0 || position >= cache.blocks * COLIBRI_KV_BLOCK)
      return COLIBRI_INVALID_ARGUMENT;
    for (int64_t h = head; h < head_end; ++h, ++count) {
      float* q = scratch.q + count * key_dim;
      std::copy_n(f32_row(call.q_latent, row * a.heads + h), a.latent, q);
      std::copy_n(f32_row(call.q_rope, row * a.heads + h), a.rope_dims, q + a.latent);
      scratch.attention.queries[count].start(q, 0, position + 1);
    }
  }
  if (a.cache_dtype == COLIBRI_CODEC_Q8_0) {
    const auto* keys = reinterpret_cast<const Q8Part*>(cache.keys);
    prepare_queries<S>(scratch.attention, count, key_dim);
    attend<S>(LatentKeys<S, Q8Part>{keys, a.latent, key_dim, a.scale, scratch.values},
              scratch.attention, count);
  } else if (a.cache_dtype == COLIBRI_CODEC_F16) {
    const auto* keys = reinterpret_cast<const uint16_t*>(cache.keys);
    attend<S>(LatentKeys<S, uint16_t>{keys, a.latent, key_dim, a.scale, scratch.values},
              scratch.attention, count);
  } else {
    const auto* keys = reinterpret_cast<const float*>(cache.keys);
    attend<S>(LatentKeys<S, float>{keys, a.latent, key_dim, a.scale, scratch.values},
              scratch.attention, count);
  }
  count = 0;
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t h = head; h < head_end; ++h, ++count) {
      finish_query<S>(scratch.attention, count, nullptr, f32_row(call.output, row * a.heads + h),
                      a.latent);
    }
  }
  return COLIBRI_OK;
}

template <class S>
colibri_status run_mla_attention(const OperatorState& state, const void* arguments, TaskRange tasks,
                                 void* memory) {
  const auto& call = *static_cast<const colibri_mla_attention_args*>(arguments);
  const auto& a = state.mla_attention;
  const LatentScratch scratch(a, memory);
  const int64_t across = divide_up(a.heads, kLatentHeads);
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t begin = task / across * kLatentRows;
    const int64_t end = std::min(begin + kLatentRows, call.q_latent.shape[0] / a.heads);
    const int64_t head = task % across * kLatentHeads;
    const int64_t head_end = std::min(head + kLatentHeads, a.heads);
    const colibri_status status =
        for_each_run(call.sequence, begin, end, [&](int64_t first, int64_t last) {
          return attend_latent_rows<S>(state, call, first, last, head, head_end, scratch);
        });
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
