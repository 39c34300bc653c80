// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/attention_query.h"
#include "plugins/cpu_generic/kv_cache.h"
#include "plugins/cpu_generic/operators.h"

namespace colibri::cpu_generic {
namespace {

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
  const AttentionQuery::Shape shape = {a.head_dim, a.head_dim, a.scale};
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const AttentionQuery query(*state.math, shape, cache, kv_head,
                               cpu::f32_row(call.q, row) + head * a.head_dim, memory);
    query.run(first, position + 1, a.sinks == 1 ? call.sink + head : nullptr,
              cpu::f32_row(call.output, row) + head * a.head_dim);
  }
  return COLIBRI_OK;
}

}  // namespace

int64_t attention_scratch_bytes(const OperatorState& state) {
  return AttentionQuery::memory_bytes(state.attention.head_dim, state.attention.head_dim);
}

// output = softmax(scale * q K) V over the keys that the row sees, and the sink
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
