// SPDX-License-Identifier: Apache-2.0
// The two products of attention for some keys and some queries at a time: queries times keys, and
// weights times values.
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
};

// Queries that are computed together, and 16 keys or 16 numbers of values for each: enough sums at a
// time to hide how long one fma takes.
template <class S>
constexpr int kWideQueries = S::kLanes == 16 ? 8 : 4;
template <class S, int Q>
constexpr int kBlocksAtOnce = std::clamp(8 / (Q * Lanes16<S>::kVectors), 1, 4);

// scores[i] = the products of query i with the keys of B blocks, d ascending, times the scale.
template <class S, int Q, int B, class K, class V>
COLIBRI_INLINE void score_blocks(const StepKeys<K, V>& step, const AttentionQuery* queries,
                                 int64_t block, float (*scores)[kStepKeys]) {
  const float* q[Q];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) q[i] = queries[i].q;
  const int64_t size = key_block_size(step.key_dim);
  const K* keys = step.keys + block * size;
  Lanes16<S> sums[Q][B];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) sums[i][b] = Lanes16<S>::set(0);
  }
  for (int64_t d = 0; d < step.key_dim; ++d) {
    Lanes16<S> k[B];
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) k[b] = load_lanes<S>(keys + b * size + d * COLIBRI_KV_BLOCK);
    COLIBRI_UNROLL
    for (int i = 0; i < Q; ++i) {
      const typename S::F x = S::set(q[i][d]);
      COLIBRI_UNROLL
      for (int b = 0; b < B; ++b) sums[i][b] = fma(x, k[b], sums[i][b]);
    }
  }
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) {
      COLIBRI_UNROLL
      for (int v = 0; v < Lanes16<S>::kVectors; ++v)
        sums[i][b].v[v] = S::mul(sums[i][b].v[v], S::set(step.scale));
      sums[i][b].store(scores[i] + (block + b) * COLIBRI_KV_BLOCK);
    }
  }
}

// The same for blocks [block, block_end).
template <class S, int Q, class K, class V>
void score_keys(const StepKeys<K, V>& step, const AttentionQuery* queries, int64_t block,
                int64_t block_end, float (*scores)[kStepKeys]) {
  constexpr int B = kBlocksAtOnce<S, Q>;
  for (; block + B <= block_end; block += B) score_blocks<S, Q, B>(step, queries, block, scores);
  for (; block < block_end; ++block) score_blocks<S, Q, 1>(step, queries, block, scores);
}

// sums of query i += weights times B tiles of values of the keys in the range, keys ascending.
template <class S, int Q, int B, class K, class V>
COLIBRI_INLINE void add_tiles(const StepKeys<K, V>& step, KeyRange range,
                              const float (*weights)[kStepKeys], float* sums, int64_t width,
                              int64_t tile) {
  Lanes16<S> acc[Q][B];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) acc[i][b] = Lanes16<S>::load(sums + i * width + (tile + b) * 16);
  }
  for (int64_t key = range.begin; key < range.end;) {
    const int64_t block = key / COLIBRI_KV_BLOCK;
    const V* values = step.values + (block * width + tile * 16) * COLIBRI_KV_BLOCK;
    const int64_t end = std::min(range.end, (block + 1) * COLIBRI_KV_BLOCK);
    for (; key < end; ++key) {
      Lanes16<S> value[B];
      COLIBRI_UNROLL
      for (int b = 0; b < B; ++b)
        value[b] = load_lanes<S>(values + b * 256 + key % COLIBRI_KV_BLOCK * 16);
      COLIBRI_UNROLL
      for (int i = 0; i < Q; ++i) {
        const typename S::F w = S::set(weights[i][key]);
        COLIBRI_UNROLL
        for (int b = 0; b < B; ++b) acc[i][b] = fma(w, value[b], acc[i][b]);
      }
    }
  }
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) acc[i][b].store(sums + i * width + (tile + b) * 16);
  }
}

// The same for all tiles.
template <class S, int Q, class K, class V>
void add_values(const StepKeys<K, V>& step, KeyRange range, const float (*weights)[kStepKeys],
                float* sums, int64_t width) {
  constexpr int B = kBlocksAtOnce<S, Q>;
  int64_t tile = 0;
  for (; tile + B <= width / 16; tile += B)
    add_tiles<S, Q, B>(step, range, weights, sums, width, tile);
  for (; tile < width / 16; ++tile) add_tiles<S, Q, 1>(step, range, weights, sums, width, tile);
}

}  // namespace colibri::cpu
