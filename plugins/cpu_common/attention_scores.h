// SPDX-License-Identifier: Apache-2.0
// Queries times keys.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/attention_query.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

// scores[i] of blocks `block` and on = the products, times the scale.
template <class S, int Q, int B>
COLIBRI_INLINE void store_scores(Lanes16<S> (&products)[Q][B], float scale, int64_t block,
                                 float (*scores)[kStepKeys]) {
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) {
      COLIBRI_UNROLL
      for (int v = 0; v < Lanes16<S>::kVectors; ++v)
        products[i][b].v[v] = S::mul(products[i][b].v[v], S::set(scale));
      products[i][b].store(scores[i] + (block + b) * COLIBRI_KV_BLOCK);
    }
  }
}

// sum(i) += the products of part `at` of query i with the kLanes keys from `key` on.
template <class S, int Q, class Sum>
COLIBRI_INLINE void add_part(const Q8Part& keys, int key, const AttentionQuery* queries, int64_t at,
                             Sum sum) {
  typename S::I start[Q];
  typename S::SumS8 products[Q];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    const int16_t* x_sum = queries[i].prepared.sum + 2 * at;
    start[i] = S::set_i(-S::kBias * (x_sum[0] + x_sum[1]));
    products[i] = S::begin_s8(start[i]);
  }
  COLIBRI_UNROLL
  for (int four = 0; four < 8; ++four) {
    const auto* q = reinterpret_cast<const uint8_t*>(keys.q + four * 64 + key * 4);
    const typename S::Bytes k = S::biased(S::load_panels(q, 32));
    COLIBRI_UNROLL
    for (int i = 0; i < Q; ++i) {
      const int8_t* x = queries[i].prepared.q + at * Q8Part::kNumbers + four * 4;
      products[i] = S::dot_s8(products[i], k, S::broadcast(x));
    }
  }
  const typename S::F d = S::load_f16(keys.d + key);
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    const typename S::F dot = S::to_float(S::total(products[i], start[i]));
    sum(i) = S::fma(dot, S::mul(d, S::set(queries[i].prepared.scale[at])), sum(i));
  }
}

// scores[i] = the products of query i with the keys of B blocks, d ascending, times the scale.
template <class S, int Q, int B, class K, class V>
COLIBRI_INLINE void score_blocks(const StepKeys<K, V>& step, const AttentionQuery* queries,
                                 int64_t block, float (*scores)[kStepKeys]) {
  const float* q[Q];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) q[i] = queries[i].q;
  const int64_t size = key_block_size<K>(step.key_dim);
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
  store_scores<S>(sums, step.scale, block, scores);
}

// The same of keys in q8_0: exact products of integers, part by part.
template <class S, int Q, int B, class V>
COLIBRI_INLINE void score_blocks(const StepKeys<Q8Part, V>& step, const AttentionQuery* queries,
                                 int64_t block, float (*scores)[kStepKeys]) {
  constexpr int kVectors = Lanes16<S>::kVectors;
  const int64_t parts = q8_parts(step.key_dim);
  Lanes16<S> sums[Q][B];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) sums[i][b] = Lanes16<S>::set(0);
  }
  for (int64_t at = 0; at < parts; ++at) {
    const Q8Part* keys = step.keys + block * parts + at;
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) {
      COLIBRI_UNROLL
      for (int v = 0; v < kVectors; ++v)
        add_part<S, Q>(keys[b * parts], v * S::kLanes, queries, at,
                       [&](int i) COLIBRI_INLINE_LAMBDA ->
                       typename S::F& { return sums[i][b].v[v]; });
    }
  }
  store_scores<S>(sums, step.scale, block, scores);
}

// The same for blocks [block, block_end).
template <class S, int Q, class K, class V>
void score_keys(const StepKeys<K, V>& step, const AttentionQuery* queries, int64_t block,
                int64_t block_end, float (*scores)[kStepKeys]) {
  constexpr int B = kBlocksAtOnce<S, Q>;
  for (; block + B <= block_end; block += B) score_blocks<S, Q, B>(step, queries, block, scores);
  for (; block < block_end; ++block) score_blocks<S, Q, 1>(step, queries, block, scores);
}

}  // namespace colibri::cpu
