// SPDX-License-Identifier: Apache-2.0
// Queries times keys.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/attention_query.h"
#include "plugins/cpu_common/chain_sum.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

// scores[i] from block `block` on = N vectors of products of query i, times the scale.
template <class S, int Q, int N>
COLIBRI_INLINE void store_scores(const typename S::F (&products)[Q][N], float scale, int64_t block,
                                 float (*scores)[kStepKeys]) {
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int v = 0; v < N; ++v)
      S::store(scores[i] + block * COLIBRI_KV_BLOCK + v * S::kLanes,
               S::mul(products[i][v], S::set(scale)));
  }
}

// sum(i) += the products of part `at` of query i with the kLanes keys from `key` on. `ahead` bytes
// behind them are those of the next step.
template <class S, int Q, class Sum>
COLIBRI_INLINE void add_part(const Q8Part& keys, int key, int64_t ahead,
                             const AttentionQuery* queries, int64_t at, Sum sum) {
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
    if (key == 0) ask_ahead(q, ahead);
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

// scores[i] = the products of query i with the keys of a block, times the scale.
template <class S, int Q, class K, class V>
COLIBRI_INLINE void score_block(const StepKeys<K, V>& step, const AttentionQuery* queries,
                                int64_t block, float (*scores)[kStepKeys]) {
  constexpr int N = Lanes16<S>::kVectors;
  const float* q[Q];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) q[i] = queries[i].q;
  const K* keys = step.keys + block * key_block_size<K>(step.key_dim);
  const int64_t ahead = step_bytes<K>(key_block_size<K>(step.key_dim));
  constexpr int64_t kLine = 4 / static_cast<int64_t>(sizeof(K));  // of numbers of 16 keys
  alignas(64) float sums[Q][N][S::kLanes];
  chain_sum<S>(step.key_dim, sums,
               [&](typename S::F(&chain)[Q][N], int64_t d) COLIBRI_INLINE_LAMBDA {
                 if (d % kLine == 0) ask_ahead(keys + d * COLIBRI_KV_BLOCK, ahead);
                 const Lanes16<S> k = load_lanes<S>(keys + d * COLIBRI_KV_BLOCK);
                 COLIBRI_UNROLL
                 for (int i = 0; i < Q; ++i) {
                   const typename S::F x = S::set(q[i][d]);
                   COLIBRI_UNROLL
                   for (int v = 0; v < N; ++v) chain[i][v] = S::fma(x, k.v[v], chain[i][v]);
                 }
               });
  typename S::F products[Q][N];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int v = 0; v < N; ++v) products[i][v] = S::load(sums[i][v]);
  }
  store_scores<S>(products, step.scale, block, scores);
}

// The same of B blocks of keys in q8_0: exact products of integers, part by part.
template <class S, int Q, int B, class V>
COLIBRI_INLINE void score_blocks(const StepKeys<Q8Part, V>& step, const AttentionQuery* queries,
                                 int64_t block, float (*scores)[kStepKeys]) {
  constexpr int kVectors = Lanes16<S>::kVectors;
  const int64_t parts = q8_parts(step.key_dim);
  const int64_t ahead = step_bytes<Q8Part>(parts);
  typename S::F sums[Q][B * kVectors];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int v = 0; v < B * kVectors; ++v) sums[i][v] = S::zero();
  }
  for (int64_t at = 0; at < parts; ++at) {
    const Q8Part* keys = step.keys + block * parts + at;
    COLIBRI_UNROLL
    for (int v = 0; v < B * kVectors; ++v)
      add_part<S, Q>(keys[v / kVectors * parts], v % kVectors * S::kLanes, ahead, queries, at,
                     [&](int i) COLIBRI_INLINE_LAMBDA -> typename S::F& { return sums[i][v]; });
  }
  store_scores<S>(sums, step.scale, block, scores);
}

// The same for blocks [block, block_end). One at a time where chains are short: they hide how long an
// fma takes.
template <class S, int Q, class K, class V>
void score_keys(const StepKeys<K, V>& step, const AttentionQuery* queries, int64_t block,
                int64_t block_end, float (*scores)[kStepKeys]) {
  for (; block < block_end; ++block) score_block<S, Q>(step, queries, block, scores);
}
template <class S, int Q, class V>
void score_keys(const StepKeys<Q8Part, V>& step, const AttentionQuery* queries, int64_t block,
                int64_t block_end, float (*scores)[kStepKeys]) {
  constexpr int B = kBlocksAtOnce<S, Q>;
  for (; block + B <= block_end; block += B) score_blocks<S, Q, B>(step, queries, block, scores);
  for (; block < block_end; ++block) score_blocks<S, Q, 1>(step, queries, block, scores);
}

}  // namespace colibri::cpu
