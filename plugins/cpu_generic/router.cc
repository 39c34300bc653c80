// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/lane_sum.h"
#include "plugins/cpu_generic/operators.h"
#include "plugins/cpu_generic/packed_matrix.h"

namespace colibri::cpu_generic {
namespace {

// Descending; NaN counts as the largest, so that it is chosen and seen in the result.
bool is_larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

// The top k of the logits, of equal ones the lowest expert first. `taken` has room for a flag per
// expert.
void choose(const float* logits, int64_t experts, int64_t top_k, uint8_t* taken, int32_t* chosen) {
  std::fill_n(taken, experts, uint8_t{0});
  for (int64_t slot = 0; slot < top_k; ++slot) {
    int64_t best = -1;
    for (int64_t e = 0; e < experts; ++e) {
      if (taken[e] == 0 && (best < 0 || is_larger(logits[e], logits[best]))) best = e;
    }
    taken[best] = 1;
    chosen[slot] = static_cast<int32_t>(best);
  }
}

}  // namespace

int64_t router_scratch_bytes(const OperatorState& state) {
  return state.rows * 5;
}

// logits = weight * x; scores = softmax over the chosen experts, or over all of them if they are
// not renormalised
colibri_status router(const OperatorState& state, const void* arguments, TaskRange tasks,
                      void* scratch) {
  const auto& call = *static_cast<const colibri_router_args*>(arguments);
  const PackedMatrix weight = {cpu::packed_weight(state, call.weight), state.weight_codec,
                               state.cols};
  const int64_t top_k = state.router.top_k;
  float* logits = static_cast<float*>(scratch);
  auto* taken = reinterpret_cast<uint8_t*>(logits + state.rows);
  const int64_t begin = tasks.begin * cpu::kRouterRows;
  const int64_t end = std::min(tasks.end * cpu::kRouterRows, call.input.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    const float* x = cpu::f32_row(call.input, row);
    for (int64_t e = 0; e < state.rows; ++e) {
      float sum = 0;
      for (int64_t k = 0; k < state.cols; ++k) sum = std::fma(x[k], weight.number(e, k), sum);
      logits[e] = sum;
    }
    int32_t* chosen = cpu::i32_row(call.expert, row);
    float* scores = cpu::f32_row(call.score, row);
    choose(logits, state.rows, top_k, taken, chosen);

    const float most = logits[chosen[0]];
    for (int64_t slot = 0; slot < top_k; ++slot)
      scores[slot] = state.math->exp(logits[chosen[slot]] - most);
    LaneSum sum;
    if (state.router.renormalize == 1) {
      for (int64_t slot = 0; slot < top_k; ++slot) sum.add(slot, scores[slot]);
    } else {
      for (int64_t e = 0; e < state.rows; ++e) sum.add(e, state.math->exp(logits[e] - most));
    }
    const float total = sum.total();
    for (int64_t slot = 0; slot < top_k; ++slot) scores[slot] /= total;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
