// SPDX-License-Identifier: Apache-2.0
// One step of attention: 64 keys for some queries at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "plugins/cpu_common/attention_scores.h"
#include "plugins/cpu_common/attention_values.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/vector_math.h"

namespace colibri::cpu {

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

// One step for Q queries.
template <class S, int Q, class K, class V>
void attend_step(const StepKeys<K, V>& step, AttentionQuery* queries, float* sums, int64_t width) {
  alignas(64) float scores[Q][kStepKeys];
  KeyRange ranges[Q];
  KeyRange all = {kStepKeys, 0};
  KeyRange common = {0, kStepKeys};
  for (int i = 0; i < Q; ++i) {
    ranges[i] = {std::max<int64_t>(queries[i].begin - step.first, 0),
                 std::min(queries[i].end - step.first, kStepKeys)};
    all = {std::min(all.begin, ranges[i].begin), std::max(all.end, ranges[i].end)};
    common = {std::max(common.begin, ranges[i].begin), std::min(common.end, ranges[i].end)};
  }
  if (all.begin >= all.end) return;
  score_keys<S, Q>(step, queries, all.begin / COLIBRI_KV_BLOCK,
                   (all.end + COLIBRI_KV_BLOCK - 1) / COLIBRI_KV_BLOCK, scores);
  // Keys ascending for each query: first those that not all of the queries see, then the common
  // ones, then again those that not all see.
  const bool has_common = common.begin < common.end;
  for (int i = 0; i < Q; ++i) {
    const KeyRange range = ranges[i];
    if (range.begin >= range.end) continue;
    weigh_keys<S>(queries[i], range, scores[i], sums + i * width, width);
    const KeyRange before = {range.begin, has_common ? common.begin : range.end};
    if (before.begin < before.end)
      add_values<S, 1>(step, before, scores + i, sums + i * width, width);
  }
  if (!has_common) return;
  add_values<S, Q>(step, common, scores, sums, width);
  for (int i = 0; i < Q; ++i) {
    if (common.end < ranges[i].end)
      add_values<S, 1>(step, {common.end, ranges[i].end}, scores + i, sums + i * width, width);
  }
}

}  // namespace colibri::cpu
