// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/views.h"
#include "plugins/cuda/attention.cuh"

namespace colibri::cuda {

int64_t mla_attention_scratch_bytes(const OperatorState& state) {
  return split_scratch_bytes(state.mla_attention.latent);
}

// attention with one key head, whose keys are [latent | rope] and whose values are the latent part
// of the keys (DeepSeek-AI 2024, "DeepSeek-V2", with the projections of keys and values absorbed)
colibri_status mla_attention(const OperatorState& state, const void* arguments, cudaStream_t stream,
                             void* scratch) {
  const auto& call = *static_cast<const colibri_mla_attention_args*>(arguments);
  const auto& a = state.mla_attention;
  const auto cache_of = [&](int64_t sequence) {
    return cpu::key_cache(call.cache[sequence], a.cache_dtype, 1, a.latent + a.rope_dims);
  };
  const auto queries = [&](const colibri_tensor& of, int64_t row, int64_t dims) -> Queries {
    return {cpu::f32_row(of, row * a.heads), a.heads * of.stride[0] / 4, of.stride[0] / 4, dims};
  };
  const int64_t all = call.q_latent.shape[0] / a.heads;
  for (int64_t begin = 0; begin < all; begin += kLaunchRows) {
    const int64_t count = std::min(kLaunchRows, all - begin);
    CachedRows rows = {};
    colibri_status status = find_rows(call.position, call.sequence, begin, count, cache_of, &rows);
    if (status != COLIBRI_OK) return status;
    const AttentionCall part = {
        {queries(call.q_latent, begin, a.latent), queries(call.q_rope, begin, a.rope_dims)},
        cpu::f32_row(call.output, begin * a.heads),
        a.heads * call.output.stride[0] / 4,
        call.output.stride[0] / 4,
        a.heads,
        1,
        a.latent,
        0,
        a.scale,
        nullptr,
        static_cast<float*>(scratch)};
    status = attend_rows<true>(part, a.cache_dtype, rows, count, stream);
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cuda
