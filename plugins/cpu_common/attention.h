// SPDX-License-Identifier: Apache-2.0
// Attention of queries to the keys in the cache: softmax(scale q K) V in one pass over the keys
// ("online softmax", Milakov and Gimelshein 2018).
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/attention_splits.h"
#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// Of one worker: a task's queries.
static COLIBRI_INLINE int64_t attention_queries(const colibri_attention_attributes& a) {
  return kAttentionRows * (a.heads / a.kv_heads);
}
static COLIBRI_INLINE int64_t attention_scratch_bytes(const colibri_attention_attributes& a) {
  return AttentionScratch::bytes(attention_queries(a), a.cache_dtype, a.head_dim,
                                 value_tiles(a.head_dim) * 16);
}

// Keys and values of one head in the cache.
template <class T>
struct CachedHead {
  const T* keys;
  const T* values;
  int64_t head_dim;
  float scale;

  CachedHead(const KeyValueCache& cache, const colibri_attention_attributes& a, int64_t kv_head)
      : keys(reinterpret_cast<const T*>(cache.keys) +
             kv_head * cache.blocks * key_block_size<T>(a.head_dim)),
        values(reinterpret_cast<const T*>(cache.values) +
               kv_head * cache.blocks * value_block_size<T>(a.head_dim)),
        head_dim(a.head_dim),
        scale(a.scale) {}

  StepKeys<T, T> step(int64_t first, int64_t) const {
    const int64_t block = first / COLIBRI_KV_BLOCK;
    return {keys + block * key_block_size<T>(head_dim),
            values + block * value_block_size<T>(head_dim), first, head_dim, scale};
  }
};

// Rows [begin, end) of one sequence, with all query heads of one key head.
template <class S>
colibri_status attend_rows(const OperatorState& state, const colibri_attention_args& call,
                           int64_t begin, int64_t end, int64_t kv_head,
                           const AttentionScratch& scratch) {
  const auto& a = state.attention;
  const int64_t sequence = call.sequence == nullptr ? 0 : call.sequence[begin];
  if (sequence < 0) return COLIBRI_INVALID_ARGUMENT;
  const KeyValueCache cache = key_value_cache(call.k_cache[sequence], call.v_cache[sequence],
                                              a.cache_dtype, a.kv_heads, a.head_dim);
  if (cache.keys == nullptr) return COLIBRI_INVALID_ARGUMENT;
  const int64_t group = a.heads / a.kv_heads;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t position = call.position[row];
    if (position < 0 || position >= cache.blocks * COLIBRI_KV_BLOCK)
      return COLIBRI_INVALID_ARGUMENT;
    const int64_t first = a.window > 0 ? std::max<int64_t>(position - a.window + 1, 0) : 0;
    for (int64_t h = 0; h < group; ++h) {
      const float* q = f32_row(call.q, row) + (kv_head * group + h) * a.head_dim;
      scratch.queries[(row - begin) * group + h].start(q, first, position + 1);
    }
  }
  const int64_t count = (end - begin) * group;
  if (a.cache_dtype == COLIBRI_CODEC_Q8_0) {
    prepare_queries<S>(scratch, count, a.head_dim);
    attend<S>(CachedHead<Q8Part>(cache, a, kv_head), scratch, count);
  } else if (a.cache_dtype == COLIBRI_CODEC_F16) {
    attend<S>(CachedHead<uint16_t>(cache, a, kv_head), scratch, count);
  } else {
    attend<S>(CachedHead<float>(cache, a, kv_head), scratch, count);
  }
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t h = 0; h < group; ++h) {
      const int64_t head = kv_head * group + h;
      finish_query<S>(scratch, (row - begin) * group + h, a.sinks == 1 ? call.sink + head : nullptr,
                      f32_row(call.output, row) + head * a.head_dim, a.head_dim);
    }
  }
  return COLIBRI_OK;
}

// Calls visit(begin, end), which returns a colibri_status, for the runs of rows of one sequence in
// [begin, end); stops at the first failure.
template <class Visit>
COLIBRI_INLINE colibri_status for_each_run(const int32_t* sequence, int64_t begin, int64_t end,
                                           Visit visit) {
  while (begin < end) {
    int64_t stop = sequence == nullptr ? end : begin + 1;
    while (stop < end && sequence[stop] == sequence[begin]) ++stop;
    if (const colibri_status status = visit(begin, stop); status != COLIBRI_OK) return status;
    begin = stop;
  }
  return COLIBRI_OK;
}

template <class S>
colibri_status run_attention(const OperatorState& state, const void* arguments, TaskRange tasks,
                             void* memory) {
  const auto& call = *static_cast<const colibri_attention_args*>(arguments);
  const auto& a = state.attention;
  const AttentionScratch scratch(attention_queries(a), a.cache_dtype, a.head_dim,
                                 value_tiles(a.head_dim) * 16, memory);
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t begin = task / a.kv_heads * kAttentionRows;
    const int64_t end = std::min(begin + kAttentionRows, call.q.shape[0]);
    const colibri_status status =
        for_each_run(call.sequence, begin, end, [&](int64_t first, int64_t last) {
          return attend_rows<S>(state, call, first, last, task % a.kv_heads, scratch);
        });
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
