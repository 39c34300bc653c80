// SPDX-License-Identifier: Apache-2.0
// Attention of queries to the keys in the cache: softmax(scale q K) V in one pass over the keys
// ("online softmax", Milakov and Gimelshein 2018), in steps and splits that lie at fixed positions
// (docs/numerics.md, "Attention").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/attention_steps.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/vector_math.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

struct AttentionScratch {
  AttentionQuery* queries;
  float* sums;    // of the split being worked on, a row of `width` for each query
  float* merged;  // of the splits before

  static COLIBRI_INLINE int64_t most_queries(const OperatorState& state) {
    return kAttentionRows * (state.attention.heads / state.attention.kv_heads);
  }
  static COLIBRI_INLINE int64_t width(const OperatorState& state) {
    return value_tiles(state.attention.head_dim) * 16;
  }
  static COLIBRI_INLINE int64_t bytes(const OperatorState& state) {
    return most_queries(state) * (static_cast<int64_t>(sizeof(AttentionQuery)) + 8 * width(state));
  }
  COLIBRI_INLINE AttentionScratch(const OperatorState& state, void* memory) {
    queries = static_cast<AttentionQuery*>(memory);
    sums = reinterpret_cast<float*>(queries + most_queries(state));
    merged = sums + most_queries(state) * width(state);
  }
};

// Adds a finished split to what came before it.
template <class S>
void merge_split(AttentionQuery& query, const float* sums, float* merged, int64_t width) {
  const float weight = fold(Lanes16<S>::load(query.weight));
  if (!query.has_merged) {
    query.has_merged = true;
    query.merged_most = query.most;
    query.merged_weight = weight;
    std::copy_n(sums, width, merged);
    return;
  }
  const float most = query.merged_most > query.most ? query.merged_most : query.most;
  float factors[S::kLanes];
  S::store(factors, exp<S>(S::set(query.merged_most - most)));
  const float old_factor = factors[0];
  S::store(factors, exp<S>(S::set(query.most - most)));
  const float new_factor = factors[0];
  query.merged_most = most;
  query.merged_weight = std::fma(weight, new_factor, query.merged_weight * old_factor);
  for (int64_t i = 0; i < width; i += S::kLanes) {
    const typename S::F old_part = S::mul(S::load(merged + i), S::set(old_factor));
    S::store(merged + i, S::fma(S::load(sums + i), S::set(new_factor), old_part));
  }
}

// All queries of the scratch (count of them) over the keys they see.
template <class S, class T>
void attend(const OperatorState& state, const AttentionScratch& scratch, int64_t count,
            const T* keys, const T* values) {
  const int64_t head_dim = state.attention.head_dim;
  const int64_t width = AttentionScratch::width(state);
  int64_t begin = INT64_MAX;
  int64_t end = 0;
  for (int64_t i = 0; i < count; ++i) {
    begin = std::min(begin, scratch.queries[i].begin);
    end = std::max(end, scratch.queries[i].end);
  }
  for (int64_t split = begin / kSplitKeys * kSplitKeys; split < end; split += kSplitKeys) {
    for (int64_t i = 0; i < count; ++i) scratch.queries[i].start_split();
    std::fill_n(scratch.sums, count * width, 0.0f);
    const int64_t split_end = std::min(split + kSplitKeys, end);
    for (int64_t step = std::max(split, begin / kStepKeys * kStepKeys); step < split_end;
         step += kStepKeys) {
      const StepKeys<T> here = {keys + step / COLIBRI_KV_BLOCK * key_block_size(head_dim),
                                values + step / COLIBRI_KV_BLOCK * value_block_size(head_dim), step,
                                head_dim, state.attention.scale};
      for (int64_t i = 0; i < count; i += 4) {
        attend_step<S>(here, scratch.queries + i, std::min<int64_t>(4, count - i),
                       scratch.sums + i * width, width);
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      AttentionQuery& query = scratch.queries[i];
      if (query.has_split)
        merge_split<S>(query, scratch.sums + i * width, scratch.merged + i * width, width);
    }
  }
}

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
  const int64_t key_at = kv_head * cache.blocks * key_block_size(a.head_dim);
  const int64_t value_at = kv_head * cache.blocks * value_block_size(a.head_dim);
  if (a.cache_dtype == COLIBRI_CODEC_F16) {
    attend<S>(state, scratch, count, reinterpret_cast<const uint16_t*>(cache.keys) + key_at,
              reinterpret_cast<const uint16_t*>(cache.values) + value_at);
  } else {
    attend<S>(state, scratch, count, reinterpret_cast<const float*>(cache.keys) + key_at,
              reinterpret_cast<const float*>(cache.values) + value_at);
  }
  const int64_t width = AttentionScratch::width(state);
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t h = 0; h < group; ++h) {
      const int64_t i = (row - begin) * group + h;
      float* out = f32_row(call.output, row) + (kv_head * group + h) * a.head_dim;
      for (int64_t d = 0; d < a.head_dim; ++d)
        out[d] = scratch.merged[i * width + d] / scratch.queries[i].merged_weight;
    }
  }
  return COLIBRI_OK;
}

template <class S>
colibri_status run_attention(const OperatorState& state, const void* arguments, TaskRange tasks,
                             void* memory) {
  const auto& call = *static_cast<const colibri_attention_args*>(arguments);
  const AttentionScratch scratch(state, memory);
  const int64_t kv_heads = state.attention.kv_heads;
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    int64_t row = task / kv_heads * kAttentionRows;
    const int64_t end = std::min(row + kAttentionRows, call.q.shape[0]);
    while (row < end) {  // runs of rows of one sequence
      int64_t stop = row + 1;
      while (stop < end && call.sequence != nullptr && call.sequence[stop] == call.sequence[row])
        ++stop;
      if (call.sequence == nullptr) stop = end;
      const colibri_status status =
          attend_rows<S>(state, call, row, stop, task % kv_heads, scratch);
      if (status != COLIBRI_OK) return status;
      row = stop;
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
