// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/workspace.h"

#include <algorithm>

namespace colibri::engine {

uint64_t Workspace::carve(const model::ModelSpec& spec, int64_t max_rows, std::byte* base) {
  uint64_t used = 0;
  const auto take = [&](uint64_t bytes) {
    std::byte* at = base == nullptr ? nullptr : base + used;
    used += align_up(bytes);
    return at;
  };
  const auto rows = [&](uint32_t dtype, int64_t n, int64_t cols) {
    return Rows(dtype, cols, take(Rows::bytes(dtype, n, cols)));
  };
  const int64_t q_cols = spec.heads * spec.head_dim;
  const int64_t kv_cols = spec.kv_heads * spec.head_dim;
  const int64_t product_rows = max_rows * spec.top_k;
  residual = rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  normed = rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  normed_prepared = rows(COLIBRI_CODEC_Q8_32, max_rows, spec.hidden);
  q = rows(COLIBRI_CODEC_F32, max_rows, q_cols);
  k = rows(COLIBRI_CODEC_F32, max_rows, kv_cols);
  v = rows(COLIBRI_CODEC_F32, max_rows, kv_cols);
  attended = rows(COLIBRI_CODEC_F32, max_rows, q_cols);
  attended_prepared = rows(COLIBRI_CODEC_Q8_32, max_rows, q_cols);
  attention_out = rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  std::byte* inner_memory =
      take(std::max(Rows::bytes(COLIBRI_CODEC_F32, product_rows, spec.expert_inner),
                    Rows::bytes(COLIBRI_CODEC_Q8_32, product_rows, spec.expert_inner)));
  inner = Rows(COLIBRI_CODEC_F32, spec.expert_inner, inner_memory);
  inner_prepared = Rows(COLIBRI_CODEC_Q8_32, spec.expert_inner, inner_memory);
  expert_out = rows(COLIBRI_CODEC_F32, product_rows, spec.hidden);
  position = reinterpret_cast<int32_t*>(take(static_cast<uint64_t>(max_rows) * 4));
  chosen = reinterpret_cast<int32_t*>(take(static_cast<uint64_t>(product_rows) * 4));
  score = reinterpret_cast<float*>(take(static_cast<uint64_t>(product_rows) * 4));
  return used;
}

uint64_t Workspace::bytes(const model::ModelSpec& spec, int64_t max_rows) {
  return Workspace().carve(spec, max_rows, nullptr);
}

Result<Workspace> Workspace::create(const model::ModelSpec& spec, int64_t max_rows) {
  Workspace work;
  COLIBRI_ASSIGN(work.memory, Memory::allocate(bytes(spec, max_rows), "the forward pass"));
  work.carve(spec, max_rows, work.memory.data());
  return work;
}

}  // namespace colibri::engine
