// SPDX-License-Identifier: Apache-2.0
// The router: logits, and the experts chosen by them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/float_product.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cpu_common/product_panels.h"
#include "plugins/cpu_common/router_choice.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"

namespace colibri::cpu {

// A worker's memory: logits of the rows of a task, and what the choice for one row needs.
struct RouterScratch {
  static COLIBRI_INLINE int64_t bytes(const OperatorState& state) {
    return (kRouterRows * padded_row(state.rows) + router_choice_floats(state.rows)) * 4;
  }
};

// Logits without the bias of `count` rows from `begin` on.
template <class S, class Codec>
void find_logits(const OperatorState& state, const colibri_router_args& call, int64_t begin,
                 int64_t count, float* logits, int64_t stride) {
  const float* rows[kRouterRows];
  for (int64_t i = 0; i < count; ++i) rows[i] = f32_row(call.input, begin + i);
  if (state.router.experts > 0) {
    for (int64_t i = 0; i < count; ++i) std::copy_n(rows[i], state.rows, logits + i * stride);
    return;
  }
  const PanelSpan weight = {packed_weight(state, call.weight), state.rows, state.cols, 0,
                            panels_of(state.rows)};
  product_panels<FloatProduct<S, Codec>>(weight, {rows}, count, logits, stride);
}

template <class S, class Codec>
colibri_status run_router_codec(const OperatorState& state, const colibri_router_args& call,
                                TaskRange tasks, void* memory) {
  const int64_t experts = state.rows;
  const int64_t stride = padded_row(experts);
  float* logits = static_cast<float*>(memory);
  RouterChoice<S> choice(state.router, experts, call.select_bias, logits + kRouterRows * stride);
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t begin = task * kRouterRows;
    const int64_t count = std::min(kRouterRows, call.input.shape[0] - begin);
    find_logits<S, Codec>(state, call, begin, count, logits, stride);
    for (int64_t i = 0; i < count; ++i) {
      float* row = logits + i * stride;
      if (state.router.bias == 1) add_bias<S>(row, call.bias, experts);
      choice.route(row, i32_row(call.expert, begin + i), f32_row(call.score, begin + i));
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
