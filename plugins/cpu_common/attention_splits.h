// SPDX-License-Identifier: Apache-2.0
// Attention of some queries to all keys they see, in steps and splits that lie at fixed positions
// (docs/numerics.md, "attention").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/cpu_common/attention_steps.h"
#include "plugins/cpu_common/quantize_rows.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/vector_math.h"

namespace colibri::cpu {

// A worker's memory for up to `most` queries of key_dim numbers to keys of a codec, with values of
// `width` numbers, a multiple of 16.
struct AttentionScratch {
  AttentionQuery* queries;
  float* sums;        // of the split being worked on, a row of `width` for each query
  float* merged;      // of the splits before
  uint8_t* prepared;  // a q8_32 row for each query, if the keys are quantised
  uint8_t* end;
  int64_t width;

  static COLIBRI_INLINE int64_t prepared_bytes(uint32_t codec, int64_t key_dim) {
    return codec == COLIBRI_CODEC_Q8_0 ? q8_parts(key_dim) * 40 : 0;
  }
  static COLIBRI_INLINE int64_t bytes(int64_t most, uint32_t codec, int64_t key_dim,
                                      int64_t width) {
    return most * (static_cast<int64_t>(sizeof(AttentionQuery)) + 8 * width +
                   prepared_bytes(codec, key_dim));
  }
  COLIBRI_INLINE AttentionScratch(int64_t most, uint32_t codec, int64_t key_dim,
                                  int64_t value_width, void* memory)
      : queries(static_cast<AttentionQuery*>(memory)),
        sums(reinterpret_cast<float*>(queries + most)),
        merged(sums + most * value_width),
        prepared(reinterpret_cast<uint8_t*>(merged + most * value_width)),
        end(prepared + most * prepared_bytes(codec, key_dim)),
        width(value_width) {}
};

// The first `count` queries as q8_32, padded with zeros.
template <class S>
void prepare_queries(const AttentionScratch& scratch, int64_t count, int64_t key_dim) {
  const int64_t parts = q8_parts(key_dim);
  for (int64_t i = 0; i < count; ++i) {
    AttentionQuery& query = scratch.queries[i];
    query.prepared = prepared_row(scratch.prepared + i * parts * 40, parts * Q8Part::kNumbers);
    for (int64_t part = 0; part < parts; ++part)
      quantize_padded<S>(query.q + part * Q8Part::kNumbers, key_dim - part * Q8Part::kNumbers,
                         query.prepared, part);
  }
}

template <class S>
COLIBRI_INLINE float exp_of(float x) {
  float lanes[S::kLanes];
  S::store(lanes, exp<S>(S::set(x)));
  return lanes[0];
}

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
  const float old_factor = exp_of<S>(query.merged_most - most);
  const float new_factor = exp_of<S>(query.most - most);
  query.merged_most = most;
  query.merged_weight = std::fma(weight, new_factor, query.merged_weight * old_factor);
  for (int64_t i = 0; i < width; i += S::kLanes) {
    const typename S::F old_part = S::mul(S::load(merged + i), S::set(old_factor));
    S::store(merged + i, S::fma(S::load(sums + i), S::set(new_factor), old_part));
  }
}

// The first `count` queries of the scratch over the keys they see. source.step(first, end) gives the
// keys and values [first, end) of one step.
template <class S, class Source>
void attend(const Source& source, const AttentionScratch& scratch, int64_t count) {
  const int64_t width = scratch.width;
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
      const auto here = source.step(step, std::min(step + kStepKeys, split_end));
      constexpr int kWide = kWideQueries<S>;
      int64_t i = 0;
      for (; i + kWide <= count; i += kWide)
        attend_step<S, kWide>(here, scratch.queries + i, scratch.sums + i * width, width);
      for (; i + 4 <= count; i += 4)
        attend_step<S, 4>(here, scratch.queries + i, scratch.sums + i * width, width);
      for (; i < count; ++i)
        attend_step<S, 1>(here, scratch.queries + i, scratch.sums + i * width, width);
    }
    for (int64_t i = 0; i < count; ++i) {
      AttentionQuery& query = scratch.queries[i];
      if (query.has_split)
        merge_split<S>(query, scratch.sums + i * width, scratch.merged + i * width, width);
    }
  }
}

// The result of query i, n numbers; *sink, unless it is nullptr, is one more score without a value.
template <class S>
void finish_query(const AttentionScratch& scratch, int64_t i, const float* sink, float* out,
                  int64_t n) {
  const AttentionQuery& query = scratch.queries[i];
  float weight = query.merged_weight;
  float factor = 1;
  if (sink != nullptr) {
    const float most = *sink > query.merged_most ? *sink : query.merged_most;
    factor = exp_of<S>(query.merged_most - most);
    weight = std::fma(weight, factor, exp_of<S>(*sink - most));
  }
  const float* merged = scratch.merged + i * scratch.width;
  for (int64_t d = 0; d < n; ++d) out[d] = merged[d] * factor / weight;
}

}  // namespace colibri::cpu
