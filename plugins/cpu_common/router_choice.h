// SPDX-License-Identifier: Apache-2.0
// From the logits of a row to the experts that are chosen and their weights (docs/numerics.md,
// "router").
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/product_epilogue.h"
#include "plugins/cpu_common/vector_math.h"

namespace colibri::cpu {

// A row of numbers in memory is padded to whole vectors.
static COLIBRI_INLINE int64_t padded_row(int64_t n) {
  return (n + 15) / 16 * 16;
}

// Descending, where NaN is the largest of all and of equal ones the lowest index comes first.
static COLIBRI_INLINE bool comes_before(float a, int64_t a_at, float b, int64_t b_at) {
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a != b) return a > b;
  return a_at < b_at;
}

// The `count` first of n >= count values, by insertion: few values get past the last one chosen.
static COLIBRI_INLINE void choose_top(const float* values, int64_t n, int32_t* chosen,
                                      int64_t count) {
  int64_t size = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = size;
    while (at > 0 && comes_before(values[i], i, values[chosen[at - 1]], chosen[at - 1])) --at;
    if (at == count) continue;
    size = std::min(size + 1, count);
    std::copy_backward(chosen + at, chosen + size - 1, chosen + size);
    chosen[at] = static_cast<int32_t>(i);
  }
}

// values[i] = exp(values[i] - most), and their sum over 16 virtual lanes; the padding is
// overwritten.
template <class S>
float exponentials(float* values, int64_t n, float most) {
  for (int64_t i = n; i < padded_row(n); ++i) values[i] = -std::numeric_limits<float>::infinity();
  Lanes16<S> sums = Lanes16<S>::set(0);
  for (int64_t i = 0; i < n; i += 16) {
    Lanes16<S> e = Lanes16<S>::load(values + i);
    COLIBRI_UNROLL
    for (int v = 0; v < Lanes16<S>::kVectors; ++v) {
      e.v[v] = exp<S>(S::sub(e.v[v], S::set(most)));
      sums.v[v] = S::add(sums.v[v], e.v[v]);
    }
    e.store(values + i);
  }
  return fold(sums);
}

// Memory of a RouterChoice.
static COLIBRI_INLINE int64_t router_choice_floats(int64_t experts) {
  return 4 * padded_row(experts);
}

// A row on its way.
template <class S>
struct RouterChoice {
  const colibri_router_attributes& a;
  int64_t experts;
  const float* select_bias;
  float* scores;  // [experts], padded
  float* values;  // by which experts are chosen, [experts], padded
  float* groups;  // what each group counts
  int32_t* kept;  // groups

  COLIBRI_INLINE RouterChoice(const colibri_router_attributes& attributes, int64_t expert_count,
                              const float* bias, float* memory)
      : a(attributes),
        experts(expert_count),
        select_bias(bias),
        scores(memory),
        values(scores + padded_row(experts)),
        groups(values + padded_row(experts)),
        kept(reinterpret_cast<int32_t*>(groups + padded_row(experts))) {}

  void route(const float* logits, int32_t* chosen, float* weights) {
    if (a.score == COLIBRI_SCORE_SOFTMAX && a.select_bias == 0 && a.groups == 0) {
      by_logits(logits, chosen, weights);
    } else {
      by_scores(logits, chosen, weights);
    }
    if (a.scale == 0) return;
    for (int64_t slot = 0; slot < a.top_k; ++slot) weights[slot] *= a.scale;
  }

 private:
  void by_logits(const float* logits, int32_t* chosen, float* weights) {
    const int64_t top_k = a.top_k;
    choose_top(logits, experts, chosen, top_k);
    const float most = logits[chosen[0]];
    if (a.renormalize == 1) {
      for (int64_t slot = 0; slot < top_k; ++slot) scores[slot] = logits[chosen[slot]];
      const float sum = exponentials<S>(scores, top_k, most);
      for (int64_t slot = 0; slot < top_k; ++slot) weights[slot] = scores[slot] / sum;
    } else {
      std::copy_n(logits, experts, scores);
      const float sum = exponentials<S>(scores, experts, most);
      for (int64_t slot = 0; slot < top_k; ++slot) weights[slot] = scores[chosen[slot]] / sum;
    }
  }

  void by_scores(const float* logits, int32_t* chosen, float* weights) {
    std::copy_n(logits, experts, scores);
    if (a.score == COLIBRI_SCORE_SOFTMAX) {
      int32_t largest = 0;
      choose_top(logits, experts, &largest, 1);
      const float sum = exponentials<S>(scores, experts, logits[largest]);
      for (int64_t e = 0; e < experts; ++e) scores[e] /= sum;
    } else {
      sigmoid_epilogue<S>(scores, experts);
    }
    std::copy_n(scores, experts, values);
    if (a.select_bias == 1) add_bias<S>(values, select_bias, experts);
    if (a.groups != 0) mask_groups();
    choose_top(values, experts, chosen, a.top_k);
    for (int64_t slot = 0; slot < a.top_k; ++slot) weights[slot] = scores[chosen[slot]];
    if (a.renormalize == 0) return;
    float lanes[16] = {};
    for (int64_t slot = 0; slot < a.top_k; ++slot) lanes[slot % 16] += weights[slot];
    const float sum = fold(Lanes16<S>::load(lanes)) + 1e-20f;
    for (int64_t slot = 0; slot < a.top_k; ++slot) weights[slot] /= sum;
  }

  // The experts of groups that are not kept count the mask.
  void mask_groups() {
    const int64_t size = experts / a.groups;
    const int64_t counted = a.group_rule == COLIBRI_GROUP_RULE_TOP2_SUM ? 2 : 1;
    for (int64_t group = 0; group < a.groups; ++group) {
      const float* of_group = values + group * size;
      int32_t best[2] = {};
      choose_top(of_group, size, best, counted);
      groups[group] = counted == 2 ? of_group[best[0]] + of_group[best[1]] : of_group[best[0]];
    }
    choose_top(groups, a.groups, kept, a.keep_groups);
    const float mask =
        a.group_mask == COLIBRI_GROUP_MASK_ZERO ? 0 : -std::numeric_limits<float>::infinity();
    for (int64_t group = 0; group < a.groups; ++group) {
      if (std::find(kept, kept + a.keep_groups, group) == kept + a.keep_groups)
        std::fill_n(values + group * size, size, mask);
    }
  }
};

}  // namespace colibri::cpu
