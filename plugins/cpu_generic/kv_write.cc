// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/kv_cache.h"
#include "plugins/cpu_generic/operators.h"

namespace colibri::cpu_generic {

// Keys and values into their caches, rounded to nearest even if the cache is f16, quantised if it is
// q8_0.
colibri_status kv_write(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_kv_write_args*>(arguments);
  const auto& a = state.kv_write;
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const int64_t sequence = call.sequence == nullptr ? 0 : call.sequence[row];
    const int64_t position = call.position[row];
    if (sequence < 0 || position < 0) return COLIBRI_INVALID_ARGUMENT;
    const cpu::KeyValueCache found =
        a.keys_only == 1
            ? cpu::key_cache(call.k_cache[sequence], a.cache_dtype, a.kv_heads, a.head_dim)
            : cpu::key_value_cache(call.k_cache[sequence], call.v_cache[sequence], a.cache_dtype,
                                   a.kv_heads, a.head_dim);
    if (found.keys == nullptr || position >= found.blocks * 16) return COLIBRI_INVALID_ARGUMENT;
    KvCache cache(found, a.cache_dtype, a.head_dim);
    for (int64_t head = 0; head < a.kv_heads; ++head) {
      cache.set_key(head, position, cpu::f32_row(call.k, row) + head * a.head_dim);
      if (a.keys_only == 1) continue;
      cache.set_value(head, position, cpu::f32_row(call.v, row) + head * a.head_dim);
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
