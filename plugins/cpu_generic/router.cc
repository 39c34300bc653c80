// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/chain_sum.h"
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

// The `count` largest of n values, of equal ones the lowest index first. `taken` has room for a flag
// per value.
void choose(const float* values, int64_t n, int64_t count, uint8_t* taken, int32_t* chosen) {
  std::fill_n(taken, n, uint8_t{0});
  for (int64_t slot = 0; slot < count; ++slot) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; ++i) {
      if (taken[i] == 0 && (best < 0 || is_larger(values[i], values[best]))) best = i;
    }
    taken[best] = 1;
    chosen[slot] = static_cast<int32_t>(best);
  }
}

// One row on its way from logits to chosen experts, in a worker's memory.
class Row {
 public:
  static int64_t scratch_bytes(int64_t experts) { return experts * 17; }
  Row(const OperatorState& state, const colibri_router_args& call, void* memory)
      : a_(state.router),
        call_(call),
        math_(*state.math),
        experts_(state.rows),
        logits_(static_cast<float*>(memory)),
        values_(logits_ + experts_),
        groups_(values_ + experts_),
        kept_(reinterpret_cast<int32_t*>(groups_ + experts_)),
        taken_(reinterpret_cast<uint8_t*>(kept_ + experts_)) {}

  float* logits() { return logits_; }  // [experts], to be filled in

  void route(int32_t* chosen, float* weights) {
    if (a_.bias == 1) {
      for (int64_t e = 0; e < experts_; ++e) logits_[e] = logits_[e] + call_.bias[e];
    }
    if (a_.score == COLIBRI_SCORE_SOFTMAX && a_.select_bias == 0 && a_.groups == 0) {
      by_logits(chosen, weights);
    } else {
      by_scores(chosen, weights);
    }
    if (a_.scale == 0) return;
    for (int64_t slot = 0; slot < a_.top_k; ++slot) weights[slot] = weights[slot] * a_.scale;
  }

 private:
  // softmax over the chosen experts, or over all of them if they are not renormalised
  void by_logits(int32_t* chosen, float* weights) {
    choose(logits_, experts_, a_.top_k, taken_, chosen);
    const float most = logits_[chosen[0]];
    for (int64_t slot = 0; slot < a_.top_k; ++slot)
      weights[slot] = math_.exp(logits_[chosen[slot]] - most);
    LaneSum<float> sum;
    if (a_.renormalize == 1) {
      for (int64_t slot = 0; slot < a_.top_k; ++slot) sum.add(slot, weights[slot]);
    } else {
      for (int64_t e = 0; e < experts_; ++e) sum.add(e, math_.exp(logits_[e] - most));
    }
    const float total = sum.total();
    for (int64_t slot = 0; slot < a_.top_k; ++slot) weights[slot] /= total;
  }

  // the scores themselves, chosen by what select_bias and the groups make of them
  void by_scores(int32_t* chosen, float* weights) {
    if (a_.score == COLIBRI_SCORE_SOFTMAX) {
      softmax();
    } else {
      for (int64_t e = 0; e < experts_; ++e) logits_[e] = 1 / (1 + math_.exp(-logits_[e]));
    }
    for (int64_t e = 0; e < experts_; ++e)
      values_[e] = a_.select_bias == 1 ? logits_[e] + call_.select_bias[e] : logits_[e];
    if (a_.groups != 0) mask_groups();
    choose(values_, experts_, a_.top_k, taken_, chosen);
    for (int64_t slot = 0; slot < a_.top_k; ++slot) weights[slot] = logits_[chosen[slot]];
    if (a_.renormalize == 0) return;
    LaneSum<float> sum;
    for (int64_t slot = 0; slot < a_.top_k; ++slot) sum.add(slot, weights[slot]);
    const float total = sum.total() + 1e-20f;
    for (int64_t slot = 0; slot < a_.top_k; ++slot) weights[slot] /= total;
  }

  void softmax() {
    float most = logits_[0];
    for (int64_t e = 1; e < experts_; ++e) {
      if (is_larger(logits_[e], most)) most = logits_[e];
    }
    LaneSum<float> sum;
    for (int64_t e = 0; e < experts_; ++e) {
      logits_[e] = math_.exp(logits_[e] - most);
      sum.add(e, logits_[e]);
    }
    const float total = sum.total();
    for (int64_t e = 0; e < experts_; ++e) logits_[e] /= total;
  }

  // What the experts of the groups that are not kept count instead.
  void mask_groups() {
    const int64_t size = experts_ / a_.groups;
    for (int64_t group = 0; group < a_.groups; ++group) {
      const float* values = values_ + group * size;
      const int64_t best = a_.group_rule == COLIBRI_GROUP_RULE_TOP2_SUM ? 2 : 1;
      choose(values, size, best, taken_, kept_);
      groups_[group] = best == 2 ? values[kept_[0]] + values[kept_[1]] : values[kept_[0]];
    }
    choose(groups_, a_.groups, a_.keep_groups, taken_, kept_);  // taken_ = the groups that are kept
    const bool zero = a_.group_mask == COLIBRI_GROUP_MASK_ZERO;
    for (int64_t e = 0; e < experts_; ++e) {
      if (taken_[e / size] == 0) values_[e] = zero ? 0 : -std::numeric_limits<float>::infinity();
    }
  }

  const colibri_router_attributes& a_;
  const colibri_router_args& call_;
  const colibri_math& math_;
  int64_t experts_;
  float* logits_;  // then scores
  float* values_;  // by which experts are chosen
  float* groups_;  // what each group counts
  int32_t* kept_;
  uint8_t* taken_;
};

// The logits of a row without the bias: weight * x, or x itself.
void find_logits(const OperatorState& state, const colibri_router_args& call, const float* x,
                 float* logits) {
  if (state.router.experts > 0) {
    std::copy_n(x, state.rows, logits);
    return;
  }
  const PackedMatrix weight = {cpu::packed_weight(state, call.weight), state.weight_codec,
                               state.cols};
  for (int64_t e = 0; e < state.rows; ++e)
    logits[e] = chain_sum(state.cols, x, [&](int64_t k) { return weight.number(e, k); });
}

}  // namespace

int64_t router_scratch_bytes(const OperatorState& state) {
  return Row::scratch_bytes(state.rows);
}

// logits = weight * x + bias; then the choice (groups: DeepSeek-AI 2024, "DeepSeek-V3")
colibri_status router(const OperatorState& state, const void* arguments, TaskRange tasks,
                      void* scratch) {
  const auto& call = *static_cast<const colibri_router_args*>(arguments);
  Row work(state, call, scratch);
  const int64_t begin = tasks.begin * cpu::kRouterRows;
  const int64_t end = std::min(tasks.end * cpu::kRouterRows, call.input.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    find_logits(state, call, cpu::f32_row(call.input, row), work.logits());
    work.route(cpu::i32_row(call.expert, row), cpu::f32_row(call.score, row));
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
