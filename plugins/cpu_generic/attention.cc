// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/kv_cache.h"
#include "plugins/cpu_generic/lane_sum.h"
#include "plugins/cpu_generic/operators.h"

namespace colibri::cpu_generic {
namespace {

constexpr int64_t kStepKeys = 64;
constexpr int64_t kSplitKeys = 1024;

// Softmax so far: the largest score, the sum of exp(score - most), and the sum of exp(score - most)
// * value.
struct Softmax {
  float most = -std::numeric_limits<float>::infinity();
  float weight = 0;
  float* values;  // [head_dim]
};

// One query head over the keys it sees.
class Query {
 public:
  Query(const OperatorState& state, const KvCache& cache, int64_t kv_head, const float* q)
      : a_(state.attention), math_(*state.math), cache_(cache), kv_head_(kv_head), q_(q) {}

  // Keys [begin, end); memory for 2 * head_dim floats.
  void run(int64_t begin, int64_t end, float* memory, float* out) const {
    Softmax all;
    all.values = memory;
    for (int64_t split = begin / kSplitKeys * kSplitKeys; split < end; split += kSplitKeys) {
      Softmax part;
      part.values = split <= begin ? all.values : memory + a_.head_dim;
      run_split(std::max(begin, split), std::min(end, split + kSplitKeys), &part);
      if (split <= begin) {
        all = part;
      } else {
        merge(part, &all);
      }
    }
    for (int64_t i = 0; i < a_.head_dim; ++i) out[i] = all.values[i] / all.weight;
  }

 private:
  void run_split(int64_t begin, int64_t end, Softmax* part) const {
    std::fill_n(part->values, a_.head_dim, 0.0f);
    LaneSum weight;
    for (int64_t step = begin / kStepKeys * kStepKeys; step < end; step += kStepKeys) {
      const int64_t first = std::max(begin, step);
      const int64_t last = std::min(end, step + kStepKeys);
      float w[kStepKeys];  // scores, then weights; of key step + i
      float most = part->most;
      for (int64_t key = first; key < last; ++key) {
        float dot = 0;
        for (int64_t i = 0; i < a_.head_dim; ++i)
          dot = std::fma(q_[i], cache_.key(kv_head_, key, i), dot);
        w[key - step] = dot * a_.scale;
        if (w[key - step] > most) most = w[key - step];
      }
      if (first > begin) {  // what was summed so far, under the new maximum
        const float factor = math_.exp(part->most - most);
        for (float& lane : weight.lane) lane *= factor;
        for (int64_t i = 0; i < a_.head_dim; ++i) part->values[i] *= factor;
      }
      part->most = most;
      for (int64_t key = first; key < last; ++key) {
        w[key - step] = math_.exp(w[key - step] - most);
        weight.add(key, w[key - step]);
      }
      for (int64_t i = 0; i < a_.head_dim; ++i) {
        for (int64_t key = first; key < last; ++key) {
          part->values[i] =
              std::fma(w[key - step], cache_.value(kv_head_, key, i), part->values[i]);
        }
      }
    }
    part->weight = weight.total();
  }

  void merge(const Softmax& part, Softmax* all) const {
    const float most = std::max(all->most, part.most);
    const float old_factor = math_.exp(all->most - most);
    const float new_factor = math_.exp(part.most - most);
    all->most = most;
    all->weight = std::fma(part.weight, new_factor, all->weight * old_factor);
    for (int64_t i = 0; i < a_.head_dim; ++i) {
      all->values[i] = std::fma(part.values[i], new_factor, all->values[i] * old_factor);
    }
  }

  const colibri_attention_attributes& a_;
  const colibri_math& math_;
  const KvCache& cache_;
  int64_t kv_head_;
  const float* q_;
};

colibri_status attend_row(const OperatorState& state, const colibri_attention_args& call,
                          int64_t row, int64_t kv_head, float* memory) {
  const auto& a = state.attention;
  const int64_t sequence = call.sequence == nullptr ? 0 : call.sequence[row];
  const int64_t position = call.position[row];
  if (sequence < 0 || position < 0) return COLIBRI_INVALID_ARGUMENT;
  const cpu::KeyValueCache found = cpu::key_value_cache(
      call.k_cache[sequence], call.v_cache[sequence], a.cache_dtype, a.kv_heads, a.head_dim);
  if (found.keys == nullptr || position >= found.blocks * 16) return COLIBRI_INVALID_ARGUMENT;
  const KvCache cache(found, a.cache_dtype, a.head_dim);
  const int64_t first = a.window > 0 ? std::max<int64_t>(position - a.window + 1, 0) : 0;
  const int64_t group = a.heads / a.kv_heads;
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const Query query(state, cache, kv_head, cpu::f32_row(call.q, row) + head * a.head_dim);
    query.run(first, position + 1, memory, cpu::f32_row(call.output, row) + head * a.head_dim);
  }
  return COLIBRI_OK;
}

}  // namespace

int64_t attention_scratch_bytes(const OperatorState& state) {
  return 2 * state.attention.head_dim * 4;
}

// output = softmax(scale * q K) V over the keys that the row sees
colibri_status attention(const OperatorState& state, const void* arguments, TaskRange tasks,
                         void* scratch) {
  const auto& call = *static_cast<const colibri_attention_args*>(arguments);
  const int64_t kv_heads = state.attention.kv_heads;
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t begin = task / kv_heads * cpu::kAttentionRows;
    const int64_t end = std::min(begin + cpu::kAttentionRows, call.q.shape[0]);
    for (int64_t row = begin; row < end; ++row) {
      const colibri_status status =
          attend_row(state, call, row, task % kv_heads, static_cast<float*>(scratch));
      if (status != COLIBRI_OK) return status;
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
