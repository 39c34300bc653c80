// SPDX-License-Identifier: Apache-2.0
// Logits, scores and the choice of experts in one kernel: a block for each row. Its warps share the
// logits, the first one chooses.
#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cuda/chain_sum.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

struct Call {
  const uint8_t* weight;  // nullptr: the input is the logits
  int64_t panel_bytes;
  const float* input;
  int32_t* expert;
  float* score;
  int64_t input_stride, expert_stride, score_stride;  // numbers
  const float *bias, *select_bias;                    // or nullptr
  int experts, cols, top_k, groups, keep_groups;
  bool softmax, by_logits, renormalizes, top2_sum, masks_with_zero;
  float scale;
};

// Descending; NaN counts as the largest. Of equals the lower index comes first.
__device__ inline bool comes_first(float a, int i, float b, int j) {
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  if (a_nan || b_nan) return a_nan != b_nan ? a_nan : i < j;
  return a != b ? a > b : i < j;
}

// The first of the n values that are not taken, by a warp; the same in each lane.
__device__ inline int best_of(const float* values, int n, const uint8_t* taken) {
  int best = -1;
  float most = 0;
  for (int i = static_cast<int>(threadIdx.x % kWarp); i < n; i += kWarp) {
    if (taken[i] != 0 || (best >= 0 && !comes_first(values[i], i, most, best))) continue;
    best = i;
    most = values[i];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const int other = __shfl_xor_sync(0xFFFFFFFFu, best, distance);
    const float number = __shfl_xor_sync(0xFFFFFFFFu, most, distance);
    if (other < 0 || (best >= 0 && !comes_first(number, other, most, best))) continue;
    best = other;
    most = number;
  }
  return best;
}

// What the warp that chooses works in.
struct Work {
  float logits[kMostExperts];  // then scores
  float values[kMostExperts];  // by which experts are chosen
  float groups[kMostExperts];  // what each group counts
  uint8_t taken[kMostExperts];
};

// Calls found(slot, index) in each lane for the `count` first of n values, and marks them in taken.
template <typename Found>
__device__ void choose(const float* values, int n, int count, uint8_t* taken, Found found) {
  const unsigned lane = threadIdx.x % kWarp;
  for (int i = static_cast<int>(lane); i < n; i += kWarp) taken[i] = 0;
  __syncwarp();
  for (int slot = 0; slot < count; ++slot) {
    const int best = best_of(values, n, taken);
    __syncwarp();
    if (lane == 0) taken[best] = 1;
    __syncwarp();
    found(slot, best);
  }
}

// The lane sum of number(0) to number(n - 1), the same in each lane.
template <typename Number>
__device__ float lane_sum(int n, Number number) {
  float lane = 0;
  for (int i = static_cast<int>(threadIdx.x % 16); i < n; i += 16) lane += number(i);
  return fold_lanes(lane);
}

// 1 / (1 + exp(-x)) or exp(x - most) / sum of these, for all logits.
__device__ void score_all(const Call& call, Work& work) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  if (!call.softmax) {
    for (int e = lane; e < call.experts; e += kWarp)
      work.logits[e] = 1.0f / (1.0f + exp_f32(-work.logits[e]));
    __syncwarp();
    return;
  }
  for (int e = lane; e < call.experts; e += kWarp) work.taken[e] = 0;
  __syncwarp();
  const float most = work.logits[best_of(work.logits, call.experts, work.taken)];
  __syncwarp();
  for (int e = lane; e < call.experts; e += kWarp) work.logits[e] = exp_f32(work.logits[e] - most);
  __syncwarp();
  const float sum = lane_sum(call.experts, [&](int e) { return work.logits[e]; });
  __syncwarp();
  for (int e = lane; e < call.experts; e += kWarp) work.logits[e] /= sum;
  __syncwarp();
}

// What the experts of the groups that are not kept count instead.
__device__ void mask_groups(const Call& call, Work& work) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const int size = call.experts / call.groups;
  for (int group = 0; group < call.groups; ++group) {
    const float* values = work.values + group * size;
    float counts = 0;
    choose(values, size, call.top2_sum ? 2 : 1, work.taken,
           [&](int slot, int best) { counts = slot == 0 ? values[best] : counts + values[best]; });
    if (lane == 0) work.groups[group] = counts;
    __syncwarp();
  }
  choose(work.groups, call.groups, call.keep_groups, work.taken, [](int, int) {});
  for (int e = lane; e < call.experts; e += kWarp) {
    if (work.taken[e / size] == 0) work.values[e] = call.masks_with_zero ? 0.0f : -infinity();
  }
  __syncwarp();
}

// From logits to the chosen experts and their weights, by one warp.
__device__ void choose_experts(const Call& call, Work& work, int32_t* expert, float* score) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  if (!call.by_logits) {
    score_all(call, work);
    for (int e = lane; e < call.experts; e += kWarp) {
      work.values[e] =
          call.select_bias == nullptr ? work.logits[e] : work.logits[e] + call.select_bias[e];
    }
    __syncwarp();
    if (call.groups != 0) mask_groups(call, work);
  }
  float most = 0;  // of the logits
  choose(call.by_logits ? work.logits : work.values, call.experts, call.top_k, work.taken,
         [&](int slot, int best) {
           if (slot == 0) most = work.logits[best];
           const float weight =
               call.by_logits ? exp_f32(work.logits[best] - most) : work.logits[best];
           if (lane != 0) return;
           expert[slot] = best;
           score[slot] = weight;
         });
  __syncwarp();
  float divisor = 1;
  if (call.renormalizes) {
    const float sum = lane_sum(call.top_k, [&](int slot) { return score[slot]; });
    divisor = call.by_logits ? sum : sum + 0x1.79ca10p-67f;
  } else if (call.by_logits) {
    divisor = lane_sum(call.experts, [&](int e) { return exp_f32(work.logits[e] - most); });
  }
  __syncwarp();
  for (int slot = lane; slot < call.top_k; slot += kWarp) {
    const float weight = score[slot] / divisor;
    score[slot] = call.scale == 0 ? weight : weight * call.scale;
  }
}

template <uint32_t kCodec>
__global__ void route(Call call) {
  __shared__ Work work;
  const float* x = call.input + blockIdx.x * call.input_stride;
  if (call.weight == nullptr) {
    for (int e = static_cast<int>(threadIdx.x); e < call.experts; e += kThreads)
      work.logits[e] = x[e];
  } else {  // a warp takes the experts of a panel at a time
    const float* const vector[1] = {x};
    for (int panel = static_cast<int>(threadIdx.x / kWarp); panel * 8 < call.experts;
         panel += kWarps) {
      const auto found =
          chain_sums<kCodec>(call.weight + panel * call.panel_bytes, vector, 1, call.cols);
      const int e = panel * 8 + static_cast<int>(threadIdx.x % 8);
      if (threadIdx.x % kWarp < 8 && e < call.experts) work.logits[e] = found.total[0];
    }
  }
  __syncthreads();
  if (call.bias != nullptr) {
    for (int e = static_cast<int>(threadIdx.x); e < call.experts; e += kThreads)
      work.logits[e] += call.bias[e];
  }
  __syncthreads();
  if (threadIdx.x >= kWarp) return;
  choose_experts(call, work, call.expert + blockIdx.x * call.expert_stride,
                 call.score + blockIdx.x * call.score_stride);
}

}  // namespace

// logits = weight * x + bias; then the choice (groups: DeepSeek-AI 2024, "DeepSeek-V3")
colibri_status router(const OperatorState& state, const void* arguments, cudaStream_t stream,
                      void*) {
  const auto& args = *static_cast<const colibri_router_args*>(arguments);
  const auto& a = state.router;
  Call call = {};
  if (a.experts == 0) call.weight = cpu::packed_weight(state, args.weight);
  call.panel_bytes = cpu::panel_bytes(state.weight_codec, state.cols);
  call.input = cpu::f32_row(args.input, 0);
  call.expert = cpu::i32_row(args.expert, 0);
  call.score = cpu::f32_row(args.score, 0);
  call.input_stride = args.input.stride[0] / 4;
  call.expert_stride = args.expert.stride[0] / 4;
  call.score_stride = args.score.stride[0] / 4;
  call.bias = a.bias == 1 ? args.bias : nullptr;
  call.select_bias = a.select_bias == 1 ? args.select_bias : nullptr;
  call.experts = static_cast<int>(state.rows);
  call.cols = static_cast<int>(state.cols);
  call.top_k = static_cast<int>(a.top_k);
  call.groups = static_cast<int>(a.groups);
  call.keep_groups = static_cast<int>(a.keep_groups);
  call.softmax = a.score == COLIBRI_SCORE_SOFTMAX;
  call.by_logits = call.softmax && a.select_bias == 0 && a.groups == 0;
  call.renormalizes = a.renormalize == 1;
  call.top2_sum = a.group_rule == COLIBRI_GROUP_RULE_TOP2_SUM;
  call.masks_with_zero = a.group_mask == COLIBRI_GROUP_MASK_ZERO;
  call.scale = a.scale;
  const dim3 grid(static_cast<unsigned>(args.input.shape[0]));
  switch (state.weight_codec) {
    case COLIBRI_CODEC_F16:
      return launch(route<COLIBRI_CODEC_F16>, grid, stream, call);
    case COLIBRI_CODEC_BF16:
      return launch(route<COLIBRI_CODEC_BF16>, grid, stream, call);
    default:
      return launch(route<COLIBRI_CODEC_F32>, grid, stream, call);
  }
}

}  // namespace colibri::cuda
