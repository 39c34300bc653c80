// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/attention.cuh"

#include "plugins/cpu_common/views.h"

namespace colibri::cuda {

int64_t attention_scratch_bytes(const OperatorState& state) {
  return split_scratch_bytes(state.attention.head_dim);
}

// output = softmax(scale * q K) V over the keys that the row sees, and the sink
colibri_status attention(const OperatorState& state, const void* arguments, cudaStream_t stream,
                         void* scratch) {
  const auto& call = *static_cast<const colibri_attention_args*>(arguments);
  const auto& a = state.attention;
  const auto cache_of = [&](int64_t sequence) {
    return cpu::key_value_cache(call.k_cache[sequence], call.v_cache[sequence], a.cache_dtype,
                                a.kv_heads, a.head_dim);
  };
  for (int64_t begin = 0; begin < call.q.shape[0]; begin += kLaunchRows) {
    const int64_t count = std::min(kLaunchRows, call.q.shape[0] - begin);
    CachedRows rows = {};
    colibri_status status = find_rows(call.position, call.sequence, begin, count, cache_of, &rows);
    if (status != COLIBRI_OK) return status;
    const AttentionCall part = {
        {{cpu::f32_row(call.q, begin), call.q.stride[0] / 4, a.head_dim, a.head_dim}, {}},
        cpu::f32_row(call.output, begin),
        call.output.stride[0] / 4,
        a.head_dim,
        a.heads,
        a.kv_heads,
        a.head_dim,
        a.window,
        a.scale,
        a.sinks == 1 ? call.sink : nullptr,
        static_cast<float*>(scratch)};
    status = attend_rows<false>(part, a.cache_dtype, rows, count, stream);
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cuda
