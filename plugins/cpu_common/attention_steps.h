// SPDX-License-Identifier: Apache-2.0
// One step of attention: 64 keys for up to four queries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/vector_math.h"

namespace colibri::cpu {

constexpr int64_t kStepKeys = 64;  // keys of one update of the running maximum, at multiples of 64
constexpr int64_t kSplitKeys = 1024;  // keys of one running sum, at multiples of 1024

// One query of one row, and how far it is.
struct alignas(64) AttentionQuery {
  float weight[16];  // of the split: sum of exp(score - most), 16 virtual lanes
  const float* q;
  int64_t begin, end;  // keys it sees
  float most;          // of the split: the largest score
  float merged_most, merged_weight;
  bool has_split, has_merged;

  COLIBRI_INLINE void start(const float* query, int64_t first, int64_t last) {
    q = query;
    begin = first;
    end = last;
    has_merged = false;
  }
  COLIBRI_INLINE void start_split() {
    std::fill_n(weight, 16, 0.0f);
    most = -std::numeric_limits<float>::infinity();
    has_split = false;
  }
};

template <class K, class V>
struct StepKeys {
  const K* keys;  // of the step's first block
  const V* values;
  int64_t first;  // position of the step
  int64_t key_dim;
  float scale;
};

template <class S>
COLIBRI_INLINE Lanes16<S> load_lanes(const float* p) {
  return Lanes16<S>::load(p);
}
template <class S>
COLIBRI_INLINE Lanes16<S> load_lanes(const uint16_t* p) {
  return Lanes16<S>::load_f16(p);
}

struct KeyRange {  // within the step
  int64_t begin, end;
  COLIBRI_INLINE bool operator==(const KeyRange& other) const {
    return begin == other.begin && end == other.end;
  }
};

// scores[i] = the products of query i with the keys of blocks [block, block_end), d ascending,
// times the scale.
template <class S, int Q, class K, class V>
void score_keys(const StepKeys<K, V>& step, const AttentionQuery* queries, int64_t block,
                int64_t block_end, float (*scores)[kStepKeys]) {
  const float* q[Q];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) q[i] = queries[i].q;
  for (; block < block_end; ++block) {
    const K* keys = step.keys + block * key_block_size(step.key_dim);
    Lanes16<S> sums[Q];
    COLIBRI_UNROLL
    for (int i = 0; i < Q; ++i) sums[i] = Lanes16<S>::set(0);
    for (int64_t d = 0; d < step.key_dim; ++d) {
      const Lanes16<S> k = load_lanes<S>(keys + d * COLIBRI_KV_BLOCK);
      COLIBRI_UNROLL
      for (int i = 0; i < Q; ++i) {
        const typename S::F x = S::set(q[i][d]);
        COLIBRI_UNROLL
        for (int v = 0; v < Lanes16<S>::kVectors; ++v)
          sums[i].v[v] = S::fma(x, k.v[v], sums[i].v[v]);
      }
    }
    COLIBRI_UNROLL
    for (int i = 0; i < Q; ++i) {
      COLIBRI_UNROLL
      for (int v = 0; v < Lanes16<S>::kVectors; ++v)
        sums[i].v[v] = S::mul(sums[i].v[v], S::set(step.scale));
      sums[i].store(scores[i] + block * COLIBRI_KV_BLOCK);
    }
  }
}

// Scores become weights exp(score - most), the keys outside of the range have none, and the query's
// sums are brought to the new maximum.
template <class S>
void weigh_keys(AttentionQuery& query, KeyRange range, float* scores, float* sums, int64_t width) {
  const int64_t block = range.begin / COLIBRI_KV_BLOCK * COLIBRI_KV_BLOCK;
  const int64_t block_end =
      (range.end + COLIBRI_KV_BLOCK - 1) / COLIBRI_KV_BLOCK * COLIBRI_KV_BLOCK;
  const float lowest = -std::numeric_limits<float>::infinity();
  for (int64_t i = block; i < range.begin; ++i) scores[i] = lowest;
  for (int64_t i = range.end; i < block_end; ++i) scores[i] = lowest;
  typename S::F lanes = S::set(query.most);
  for (int64_t i = block; i < block_end; i += S::kLanes) lanes = S::max(lanes, S::load(scores + i));
  float values[S::kLanes];
  S::store(values, lanes);
  const float before = query.most;
  float most = values[0];
  for (int i = 1; i < S::kLanes; ++i) most = values[i] > most ? values[i] : most;
  query.most = most;

  Lanes16<S> weight = Lanes16<S>::load(query.weight);
  if (query.has_split && before != most) {
    S::store(values, exp<S>(S::set(before - most)));
    const typename S::F factor = S::set(values[0]);
    for (int v = 0; v < Lanes16<S>::kVectors; ++v) weight.v[v] = S::mul(weight.v[v], factor);
    for (int64_t i = 0; i < width; i += S::kLanes)
      S::store(sums + i, S::mul(S::load(sums + i), factor));
  }
  query.has_split = true;
  for (int64_t i = block; i < block_end; i += COLIBRI_KV_BLOCK) {
    Lanes16<S> w = Lanes16<S>::load(scores + i);
    COLIBRI_UNROLL
    for (int v = 0; v < Lanes16<S>::kVectors; ++v) {
      w.v[v] = exp<S>(S::sub(w.v[v], S::set(most)));
      weight.v[v] = S::add(weight.v[v], w.v[v]);
    }
    w.store(scores + i);
  }
  weight.store(query.weight);
}

// sums of query i += weights times values of the keys in the range, keys ascending.
template <class S, int Q, class K, class V>
void add_values(const StepKeys<K, V>& step, KeyRange range, const float (*weights)[kStepKeys],
                float* sums, int64_t width) {
  for (int64_t tile = 0; tile < width / 16; ++tile) {
    Lanes16<S> acc[Q];
    COLIBRI_UNROLL
    for (int i = 0; i < Q; ++i) acc[i] = Lanes16<S>::load(sums + i * width + tile * 16);
    for (int64_t key = range.begin; key < range.end; ++key) {
      const int64_t at = key / COLIBRI_KV_BLOCK * width * COLIBRI_KV_BLOCK + tile * 256 +
                         key % COLIBRI_KV_BLOCK * 16;
      const Lanes16<S> value = load_lanes<S>(step.values + at);
      COLIBRI_UNROLL
      for (int i = 0; i < Q; ++i) {
        const typename S::F w = S::set(weights[i][key]);
        COLIBRI_UNROLL
        for (int v = 0; v < Lanes16<S>::kVectors; ++v)
          acc[i].v[v] = S::fma(w, value.v[v], acc[i].v[v]);
      }
    }
    COLIBRI_UNROLL
    for (int i = 0; i < Q; ++i) acc[i].store(sums + i * width + tile * 16);
  }
}

template <class S, class K, class V>
void attend_step(const StepKeys<K, V>& step, AttentionQuery* queries, int64_t count, float* sums,
                 int64_t width) {
  alignas(64) float scores[4][kStepKeys];
  KeyRange ranges[4];
  KeyRange all = {kStepKeys, 0};
  bool same = count == 4;
  for (int64_t i = 0; i < count; ++i) {
    ranges[i] = {std::max<int64_t>(queries[i].begin - step.first, 0),
                 std::min(queries[i].end - step.first, kStepKeys)};
    all = {std::min(all.begin, ranges[i].begin), std::max(all.end, ranges[i].end)};
    same = same && ranges[i] == ranges[0];
  }
  if (all.begin >= all.end) return;
  const auto first_block = [](KeyRange range) { return range.begin / COLIBRI_KV_BLOCK; };
  const auto last_block = [](KeyRange range) {
    return (range.end + COLIBRI_KV_BLOCK - 1) / COLIBRI_KV_BLOCK;
  };
  if (count == 4) score_keys<S, 4>(step, queries, first_block(all), last_block(all), scores);
  for (int64_t i = 0; i < count; ++i) {
    if (ranges[i].begin >= ranges[i].end) continue;
    if (count != 4)
      score_keys<S, 1>(step, queries + i, first_block(ranges[i]), last_block(ranges[i]),
                       scores + i);
    weigh_keys<S>(queries[i], ranges[i], scores[i], sums + i * width, width);
    if (!same) add_values<S, 1>(step, ranges[i], scores + i, sums + i * width, width);
  }
  if (same) add_values<S, 4>(step, ranges[0], scores, sums, width);
}

}  // namespace colibri::cpu
