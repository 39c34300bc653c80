// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plugins/cpu_common/tasks.h"
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/attention_query.h"
#include "plugins/cpu_generic/kv_cache.h"
#include "plugins/cpu_generic/operators.h"

namespace colibri::cpu_generic {
namespace {

// Heads [head_begin, head_begin + kLatentHeads) of one row; memory for a query and its numbers.
colibri_status attend_row(const OperatorState& state, const colibri_mla_attention_args& call,
                          int64_t row, int64_t head_begin, float* memory) {
  const auto& a = state.mla_attention;
  const int64_t key_dim = a.latent + a.rope_dims;
  const int64_t sequence = call.sequence == nullptr ? 0 : call.sequence[row];
  const int64_t position = call.position[row];
  if (sequence < 0 || position < 0) return COLIBRI_INVALID_ARGUMENT;
  const cpu::KeyValueCache found = cpu::key_cache(call.cache[sequence], a.cache_dtype, 1, key_dim);
  if (found.keys == nullptr || position >= found.blocks * 16) return COLIBRI_INVALID_ARGUMENT;
  const KvCache cache(found, a.cache_dtype, key_dim);
  float* q = memory;
  const int64_t head_end = std::min(head_begin + cpu::kLatentHeads, a.heads);
  for (int64_t head = head_begin; head < head_end; ++head) {
    const int64_t at = row * a.heads + head;
    std::copy_n(cpu::f32_row(call.q_latent, at), a.latent, q);
    std::copy_n(cpu::f32_row(call.q_rope, at), a.rope_dims, q + a.latent);
    const AttentionQuery query(*state.math, {key_dim, a.latent, a.scale}, cache, 0, q,
                               memory + key_dim);
    query.run(0, position + 1, nullptr, cpu::f32_row(call.output, at));
  }
  return COLIBRI_OK;
}

}  // namespace

int64_t mla_attention_scratch_bytes(const OperatorState& state) {
  const int64_t key_dim = state.mla_attention.latent + state.mla_attention.rope_dims;
  return key_dim * 4 + AttentionQuery::memory_bytes(key_dim, state.mla_attention.latent);
}

// attention with one key head, whose keys are [latent | rope] and whose values are the latent part
// of the keys (DeepSeek-AI 2024, "DeepSeek-V2", with the projections of keys and values absorbed)
colibri_status mla_attention(const OperatorState& state, const void* arguments, TaskRange tasks,
                             void* scratch) {
  const auto& call = *static_cast<const colibri_mla_attention_args*>(arguments);
  const int64_t heads = state.mla_attention.heads;
  const int64_t across = cpu::divide_up(heads, cpu::kLatentHeads);
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t begin = task / across * cpu::kLatentRows;
    const int64_t end = std::min(begin + cpu::kLatentRows, call.q_latent.shape[0] / heads);
    for (int64_t row = begin; row < end; ++row) {
      const colibri_status status = attend_row(state, call, row, task % across * cpu::kLatentHeads,
                                               static_cast<float*>(scratch));
      if (status != COLIBRI_OK) return status;
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
