// SPDX-License-Identifier: Apache-2.0
// Attention of a layer: grouped queries, and multi-head latent attention.
#include <cstring>

#include "runtime/engine/arguments.h"
#include "runtime/engine/batch.h"
#include "runtime/engine/context.h"

namespace colibri::engine {
namespace {

colibri_rope_args rope_arguments(const RopeTable& table, const int32_t* position,
                                 const colibri_tensor& x) {
  auto made = arguments<colibri_rope_args>();
  made.x = x;
  made.position = position;
  made.cosine = table.cosine();
  made.sine = table.sine();
  return made;
}

}  // namespace

Status Batch::attend(const Layer& layer, size_t index, const Leaving& leaving) {
  for (size_t i = 0; i < sequences_.size(); ++i) {
    k_cache_[i] = *sequences_[i]->cache_.k(index);
    v_cache_[i] = *sequences_[i]->cache_.v(index);
  }
  const colibri_tensor normed = work_.normed.view(rows_);
  const auto norm = norm_arguments(layer.attention_norm, work_.residual.view(rows_), normed);
  COLIBRI_TRY(runner_.run_light(rows_, {{layer.attention_norm.op, &norm}}));
  const auto prepare = quantize_arguments(normed, work_.normed_prepared.view(rows_));
  COLIBRI_TRY(runner_.run_light(rows_, {{layer.quantize_attention_input, &prepare}}));
  COLIBRI_TRY(layer.mla ? attend_mla(*layer.mla, leaving) : attend_gqa(*layer.gqa, leaving));
  if (leaving.index.host != nullptr) COLIBRI_TRY(gather_residual(leaving.index.host, leaving.rows));
  const colibri_tensor attended = work_.attended.view(leaving.rows);
  const colibri_tensor attended_prepared = work_.attended_prepared.view(leaving.rows);
  const auto prepare_out = quantize_arguments(attended, attended_prepared);
  COLIBRI_TRY(runner_.run_light(leaving.rows, {{layer.quantize_attention_output, &prepare_out}}));
  const Product o(layer.o, attended, attended_prepared, work_.branch.view(leaving.rows));
  COLIBRI_TRY(runner_.run({{layer.o.op, o.get()}}));
  return add(layer, leaving.rows, nullptr);
}

Status Batch::attend_gqa(const GqaAttention& attention, const Leaving& leaving) {
  const model::ModelSpec& spec = *parts_.spec;
  const colibri_tensor normed = work_.normed.view(rows_);
  const colibri_tensor normed_prepared = work_.normed_prepared.view(rows_);
  const colibri_tensor q = work_.q.view(leaving.rows);
  const colibri_tensor k = work_.k.view(rows_), v = work_.v.view(rows_);
  const Product q_product(attention.q, normed, normed_prepared, q, leaving.index.there);
  const Product k_product(attention.k, normed, normed_prepared, k);
  const Product v_product(attention.v, normed, normed_prepared, v);
  COLIBRI_TRY(runner_.run({{attention.q.op, q_product.get()},
                           {attention.k.op, k_product.get()},
                           {attention.v.op, v_product.get()}}));

  const bool per_head = spec.qk_norm == model::QkNorm::kHead;
  const colibri_tensor q_rows = per_head ? heads_of(q, spec.heads) : q;
  const colibri_tensor k_rows = per_head ? heads_of(k, spec.kv_heads) : k;
  const auto q_norm = norm_arguments(attention.q_norm, q_rows, q_rows);
  const auto k_norm = norm_arguments(attention.k_norm, k_rows, k_rows);
  COLIBRI_TRY(
      runner_.run_light(rows_, {{attention.q_norm.op, &q_norm}, {attention.k_norm.op, &k_norm}}));
  const auto rope_q = rope_arguments(*parts_.rope, leaving.position, q);
  const auto rope_k = rope_arguments(*parts_.rope, work_.position, k);
  COLIBRI_TRY(runner_.run_light(rows_, {{attention.rope_q, &rope_q}, {attention.rope_k, &rope_k}}));

  auto write = arguments<colibri_kv_write_args>();
  write.k = k;
  write.v = v;
  write.position = work_.position;
  write.sequence = sequence();
  write.k_cache = k_cache_.data();
  write.v_cache = v_cache_.data();
  COLIBRI_TRY(runner_.run_light(rows_, {{attention.kv_write, &write}}));

  auto attend = arguments<colibri_attention_args>();
  attend.q = q;
  attend.output = work_.attended.view(leaving.rows);
  attend.position = leaving.position;
  attend.sequence = leaving.sequence;
  attend.k_cache = k_cache_.data();
  attend.v_cache = v_cache_.data();
  if (attention.sinks != nullptr) {
    attend.sink = reinterpret_cast<const float*>(address(attention.sinks->tensor));
  }
  return runner_.run({{attention.attention, &attend}});
}

// The key projection is absorbed into the query and the value projection comes after attention, so
// that only the latent is cached: DeepSeek-AI, "DeepSeek-V2", arXiv:2405.04434, section 2.1.
Status Batch::attend_mla(const MlaAttention& attention, const Leaving& leaving) {
  const model::ModelSpec& spec = *parts_.spec;
  const int64_t wanted = leaving.rows;
  const colibri_tensor normed = work_.normed.view(rows_);
  const colibri_tensor normed_prepared = work_.normed_prepared.view(rows_);
  const colibri_tensor q = work_.q.view(wanted), kv = work_.kv.view(rows_);
  const colibri_tensor q_latent = work_.q_latent.view(wanted);
  const colibri_tensor q_latent_prepared = work_.q_latent_prepared.view(wanted);
  const bool has_q_latent = attention.q_down.op != nullptr;
  const Linear& q_first = has_q_latent ? attention.q_down : attention.q_up;
  const Product q_first_product(q_first, normed, normed_prepared, has_q_latent ? q_latent : q,
                                leaving.index.there);
  const Product kv_product(attention.kv_down, normed, normed_prepared, kv);
  COLIBRI_TRY(
      runner_.run({{q_first.op, q_first_product.get()}, {attention.kv_down.op, kv_product.get()}}));

  const colibri_tensor latent = columns(kv, 0, spec.latent);
  const auto q_norm = norm_arguments(attention.q_down_norm, q_latent, q_latent);
  const auto kv_norm = norm_arguments(attention.kv_down_norm, latent, latent);
  COLIBRI_TRY(runner_.run_light(
      rows_, {{attention.q_down_norm.op, &q_norm}, {attention.kv_down_norm.op, &kv_norm}}));
  if (has_q_latent) {
    const auto prepare = quantize_arguments(q_latent, q_latent_prepared);
    COLIBRI_TRY(runner_.run_light(wanted, {{attention.quantize_q_latent, &prepare}}));
    const Product q_up(attention.q_up, q_latent, q_latent_prepared, q);
    COLIBRI_TRY(runner_.run({{attention.q_up.op, q_up.get()}}));
  }
  const auto rope_q = rope_arguments(*parts_.rope, leaving.position, q);
  const auto rope_k = rope_arguments(*parts_.rope, work_.position, kv);
  COLIBRI_TRY(runner_.run_light(rows_, {{attention.rope_q, &rope_q}, {attention.rope_k, &rope_k}}));

  auto write = arguments<colibri_kv_write_args>();
  write.k = kv;
  write.position = work_.position;
  write.sequence = sequence();
  write.k_cache = k_cache_.data();
  COLIBRI_TRY(runner_.run_light(rows_, {{attention.kv_write, &write}}));

  const int64_t nope = spec.head_dim - spec.rope.dims;
  const colibri_tensor heads = heads_of(q, spec.heads);
  const colibri_tensor absorbed = work_.absorbed.view(wanted * spec.heads);
  const colibri_tensor mixed = work_.mixed.view(wanted * spec.heads);
  COLIBRI_TRY(number_heads(wanted));
  COLIBRI_TRY(run_heads(attention.k_absorb, columns(heads, 0, nope), absorbed));
  auto attend = arguments<colibri_mla_attention_args>();
  attend.q_latent = absorbed;
  attend.q_rope = columns(heads, nope, spec.rope.dims);
  attend.output = mixed;
  attend.position = leaving.position;
  attend.sequence = leaving.sequence;
  attend.cache = k_cache_.data();
  COLIBRI_TRY(runner_.run({{attention.attention, &attend}}));
  return run_heads(attention.v_up, mixed, heads_of(work_.attended.view(wanted), spec.heads));
}

Status Batch::gather_residual(const int32_t* index, int64_t n) {
  const colibri_tensor rows = work_.residual.view(n);
  const auto bytes = static_cast<uint64_t>(rows.stride[0]);
  for (int64_t i = 0; i < n; ++i) {
    if (index[i] == i) continue;
    const uint64_t to = rows.offset + static_cast<uint64_t>(i) * bytes;
    const uint64_t from = rows.offset + static_cast<uint64_t>(index[i]) * bytes;
    if (runner_.queue() != nullptr) {
      COLIBRI_TRY(runner_.queue()->move(work_.rows.data(), to, from, bytes));
    } else {
      std::memcpy(work_.rows.data() + to, work_.rows.data() + from, bytes);
    }
  }
  return {};
}

Status Batch::number_heads(int64_t rows) {
  const int64_t heads = parts_.spec->heads;
  for (int64_t head = 0; head < heads; ++head) {
    work_.head_begin[head] = head * rows;
    for (int64_t row = 0; row < rows; ++row) {
      work_.head_row.host[head * rows + row] = static_cast<int32_t>(row * heads + head);
    }
  }
  work_.head_begin[heads] = heads * rows;
  return given(work_.head_row.host, work_.head_row.there, heads * rows).status();
}

Status Batch::run_heads(const HeadLinear& product, const colibri_tensor& input,
                        const colibri_tensor& output) {
  for (size_t head = 0; head < product.weights.size(); ++head) {
    weights_[head] = product.weights[head]->tensor;
  }
  const Rows prepared_rows(COLIBRI_CODEC_Q8_32, input.shape[1], work_.rows.data(),
                           work_.head_prepared);
  const auto prepare = quantize_arguments(input, prepared_rows.view(input.shape[0]));
  COLIBRI_TRY(runner_.run({{product.quantize_input, &prepare}}));
  auto call = arguments<colibri_grouped_matmul_args>();
  call.weights_per_group = 1;
  call.groups = parts_.spec->heads;
  call.group_begin = work_.head_begin;
  call.row_index = work_.head_row.there;
  call.weight = weights_.data();
  call.input = product.quantize_input == nullptr ? input : prepare.output;
  call.output = output;
  call.output_index = work_.head_row.there;
  return runner_.run({{product.op, &call}});
}

}  // namespace colibri::engine
