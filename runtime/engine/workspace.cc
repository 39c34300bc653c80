// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/workspace.h"

#include <algorithm>

namespace colibri::engine {
namespace {

// Bytes of rows that are f32 or q8_32.
uint64_t either_bytes(int64_t rows, int64_t cols) {
  return std::max(Rows::bytes(COLIBRI_CODEC_F32, rows, cols),
                  Rows::bytes(COLIBRI_CODEC_Q8_32, rows, cols));
}

uint64_t inner_bytes(const model::ModelSpec& spec, int64_t max_rows) {
  uint64_t most = 0;
  for (const model::LayerSpec& layer : spec.layers) {
    most = std::max({most, either_bytes(max_rows, layer.dense.inner),
                     either_bytes(max_rows, layer.shared.inner)});
  }
  return std::max(most, either_bytes(max_rows * spec.top_k, spec.expert_inner));
}

}  // namespace

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
  const auto count = [](int64_t n, size_t size) { return static_cast<uint64_t>(n) * size; };
  const int64_t value_cols = spec.heads * spec.value_dim;
  const int64_t product_rows = max_rows * spec.top_k;
  residual = rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  normed = rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  normed_prepared = rows(COLIBRI_CODEC_Q8_32, max_rows, spec.hidden);
  q = rows(COLIBRI_CODEC_F32, max_rows, spec.heads * spec.head_dim);
  attended = rows(COLIBRI_CODEC_F32, max_rows, value_cols);
  attended_prepared = rows(COLIBRI_CODEC_Q8_32, max_rows, value_cols);
  branch = rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  inner = take(inner_bytes(spec, max_rows));
  expert_out = rows(COLIBRI_CODEC_F32, product_rows, spec.hidden);
  for (int32_t** list : {&ids, &position, &sequence, &wanted, &wanted_position, &wanted_sequence}) {
    *list = reinterpret_cast<int32_t*>(take(count(max_rows, sizeof(int32_t))));
  }
  logits = rows(COLIBRI_CODEC_F32, max_rows, spec.experts);
  chosen = reinterpret_cast<int32_t*>(take(count(product_rows, sizeof(int32_t))));
  score = reinterpret_cast<float*>(take(count(product_rows, sizeof(float))));
  shared_weight = reinterpret_cast<float*>(take(count(max_rows, sizeof(float))));
  if (spec.attention == model::AttentionKind::kGqa) {
    k = rows(COLIBRI_CODEC_F32, max_rows, spec.kv_heads * spec.head_dim);
    v = rows(COLIBRI_CODEC_F32, max_rows, spec.kv_heads * spec.head_dim);
    return used;
  }
  const int64_t head_rows = max_rows * spec.heads;
  q_latent = rows(COLIBRI_CODEC_F32, max_rows, spec.q_latent);
  q_latent_prepared = rows(COLIBRI_CODEC_Q8_32, max_rows, spec.q_latent);
  kv = rows(COLIBRI_CODEC_F32, max_rows, spec.latent + spec.rope.dims);
  absorbed = rows(COLIBRI_CODEC_F32, head_rows, spec.latent);
  mixed = rows(COLIBRI_CODEC_F32, head_rows, spec.latent);
  head_prepared =
      take(Rows::bytes(COLIBRI_CODEC_Q8_32, head_rows, std::max(spec.latent, spec.head_dim)));
  head_begin = reinterpret_cast<int64_t*>(take(count(spec.heads + 1, sizeof(int64_t))));
  head_row = reinterpret_cast<int32_t*>(take(count(head_rows, sizeof(int32_t))));
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
