// SPDX-License-Identifier: Apache-2.0
// The router: logits, the top k of them, and their softmax.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/float_product.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/product_panels.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/vector_math.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// A worker's memory: logits of the rows of a task, and exponentials of one row, both padded to
// whole vectors.
struct RouterScratch {
  static COLIBRI_INLINE int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }
  static COLIBRI_INLINE int64_t bytes(const OperatorState& state) {
    return (kRouterRows + 1) * padded(state.rows) * 4;
  }
};

// The next expert: the largest logit below the one chosen last, where NaN is the largest of all and
// of equal ones the lowest expert comes first.
static COLIBRI_INLINE bool comes_before(float a, int64_t a_id, float b, int64_t b_id) {
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a != b) return a > b;
  return a_id < b_id;
}

static COLIBRI_INLINE void choose_top(const float* logits, int64_t experts, int32_t* chosen,
                                      int64_t top_k) {
  for (int64_t slot = 0; slot < top_k; ++slot) {
    int64_t best = -1;
    for (int64_t e = 0; e < experts; ++e) {
      if (slot > 0 && !comes_before(logits[chosen[slot - 1]], chosen[slot - 1], logits[e], e))
        continue;
      if (best < 0 || comes_before(logits[e], e, logits[best], best)) best = e;
    }
    chosen[slot] = static_cast<int32_t>(best);
  }
}

// values[i] = exp(values[i] - most), and their sum over 16 virtual lanes; the padding up to 16 is
// overwritten.
template <class S>
float exponentials(float* values, int64_t n, float most) {
  for (int64_t i = n; i < RouterScratch::padded(n); ++i)
    values[i] = -std::numeric_limits<float>::infinity();
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

template <class S>
void route(const colibri_router_attributes& a, const float* logits, int64_t experts, float* work,
           int32_t* chosen, float* scores) {
  const int64_t top_k = a.top_k;
  choose_top(logits, experts, chosen, top_k);
  const float most = logits[chosen[0]];
  if (a.renormalize == 1) {
    for (int64_t slot = 0; slot < top_k; ++slot) work[slot] = logits[chosen[slot]];
    const float sum = exponentials<S>(work, top_k, most);
    for (int64_t slot = 0; slot < top_k; ++slot) scores[slot] = work[slot] / sum;
  } else {
    std::copy_n(logits, experts, work);
    const float sum = exponentials<S>(work, experts, most);
    for (int64_t slot = 0; slot < top_k; ++slot) scores[slot] = work[chosen[slot]] / sum;
  }
}

template <class S, class Codec>
colibri_status run_router_codec(const OperatorState& state, const colibri_router_args& call,
                                TaskRange tasks, void* memory) {
  const int64_t experts = state.rows;
  const int64_t stride = RouterScratch::padded(experts);
  float* logits = static_cast<float*>(memory);
  float* work = logits + kRouterRows * stride;
  const PanelSpan weight = {packed_weight(state, call.weight), experts, state.cols, 0,
                            panels_of(experts)};
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t begin = task * kRouterRows;
    const int64_t count = std::min(kRouterRows, call.input.shape[0] - begin);
    const float* rows[kRouterRows];
    for (int64_t i = 0; i < count; ++i) rows[i] = f32_row(call.input, begin + i);
    product_panels<FloatProduct<S, Codec>>(weight, {rows}, count, logits, stride);
    for (int64_t i = 0; i < count; ++i) {
      route<S>(state.router, logits + i * stride, experts, work, i32_row(call.expert, begin + i),
               f32_row(call.score, begin + i));
    }
  }
  return COLIBRI_OK;
}

template <class S>
colibri_status run_router(const OperatorState& state, const void* arguments, TaskRange tasks,
                          void* scratch) {
  const auto& call = *static_cast<const colibri_router_args*>(arguments);
  switch (state.weight_codec) {
    case COLIBRI_CODEC_F32:
      return run_router_codec<S, F32Weights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_F16:
      return run_router_codec<S, F16Weights>(state, call, tasks, scratch);
    case COLIBRI_CODEC_BF16:
      return run_router_codec<S, Bf16Weights>(state, call, tasks, scratch);
    default:
      return COLIBRI_INTERNAL;
  }
}

}  // namespace colibri::cpu
