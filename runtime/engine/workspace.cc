// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/workspace.h"

#include <algorithm>
#include <utility>

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

Workspace::Bytes Workspace::carve(const model::ModelSpec& spec, int64_t max_rows, PassPlace place) {
  const bool on_device = place != PassPlace::kCpu;
  Bytes used;
  const auto take = [&](uint64_t bytes) {
    return std::exchange(used.rows, used.rows + align_up(bytes));
  };
  const auto take_rows = [&](uint32_t dtype, int64_t n, int64_t cols) {
    return Rows(dtype, cols, rows.data(), take(Rows::bytes(dtype, n, cols)));
  };
  const auto take_host = [&](uint64_t bytes) {
    const uint64_t at = std::exchange(used.host, used.host + align_up(bytes));
    return host.data() == nullptr ? nullptr : host.data() + at;
  };
  const auto list = [&]<typename T>(T*& to, int64_t n) {
    to = reinterpret_cast<T*>(take_host(static_cast<uint64_t>(n) * sizeof(T)));
  };
  const auto there = [&](int32_t*& to, int64_t n) {
    const uint64_t at = take(static_cast<uint64_t>(n) * sizeof(int32_t));
    to = rows.data() == nullptr ? nullptr : reinterpret_cast<int32_t*>(rows.data() + at);
  };
  const auto shared = [&](SharedList<int32_t>& to, int64_t n) {
    list(to.host, n);
    to.there = to.host;
    if (on_device) there(to.there, n);
  };
  const int64_t value_cols = spec.heads * spec.value_dim;
  const int64_t product_rows = max_rows * spec.top_k;
  residual = take_rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  normed = take_rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  normed_prepared = take_rows(COLIBRI_CODEC_Q8_32, max_rows, spec.hidden);
  q = take_rows(COLIBRI_CODEC_F32, max_rows, spec.heads * spec.head_dim);
  attended = take_rows(COLIBRI_CODEC_F32, max_rows, value_cols);
  attended_prepared = take_rows(COLIBRI_CODEC_Q8_32, max_rows, value_cols);
  branch = take_rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
  inner = take(inner_bytes(spec, max_rows));
  expert_out = take_rows(COLIBRI_CODEC_F32, product_rows, spec.hidden);
  for (int32_t** each : {&position, &sequence, &wanted_position, &wanted_sequence}) {
    list(*each, max_rows);
  }
  shared(ids, max_rows);
  shared(wanted, max_rows);
  const auto take_choice = [&](Choice& to, int64_t n) {
    to.logits = take_rows(COLIBRI_CODEC_F32, n, spec.experts);
    shared(to.chosen, n * spec.top_k);
    to.score = take_rows(COLIBRI_CODEC_F32, n, spec.top_k);
  };
  take_choice(choice, max_rows);
  guess_normed = take_rows(COLIBRI_CODEC_F32, kGuessRows, spec.hidden);
  guess_prepared = take_rows(COLIBRI_CODEC_Q8_32, kGuessRows, spec.hidden);
  take_choice(guess, kGuessRows);
  shared_weight = take_rows(COLIBRI_CODEC_F32, max_rows, 1);
  if (on_device) {
    head_logits = take_rows(COLIBRI_CODEC_F32, head_rows(max_rows), spec.vocabulary);
    there(token_of_row, product_rows);
    there(row_of_pair, product_rows);
  }
  if (place == PassPlace::kDeviceButExperts) {
    const auto host_rows = [&](uint32_t dtype, int64_t n, int64_t cols) {
      return Rows(dtype, cols, take_host(Rows::bytes(dtype, n, cols)));
    };
    host_normed = host_rows(COLIBRI_CODEC_F32, max_rows, spec.hidden);
    host_normed_prepared = host_rows(COLIBRI_CODEC_Q8_32, max_rows, spec.hidden);
    host_inner = take_host(either_bytes(product_rows, spec.expert_inner));
    host_expert_out = host_rows(COLIBRI_CODEC_F32, product_rows, spec.hidden);
  }
  if (spec.attention == model::AttentionKind::kGqa) {
    k = take_rows(COLIBRI_CODEC_F32, max_rows, spec.kv_heads * spec.head_dim);
    v = take_rows(COLIBRI_CODEC_F32, max_rows, spec.kv_heads * spec.head_dim);
    return used;
  }
  const int64_t rows_of_heads = max_rows * spec.heads;
  q_latent = take_rows(COLIBRI_CODEC_F32, max_rows, spec.q_latent);
  q_latent_prepared = take_rows(COLIBRI_CODEC_Q8_32, max_rows, spec.q_latent);
  kv = take_rows(COLIBRI_CODEC_F32, max_rows, spec.latent + spec.rope.dims);
  absorbed = take_rows(COLIBRI_CODEC_F32, rows_of_heads, spec.latent);
  mixed = take_rows(COLIBRI_CODEC_F32, rows_of_heads, spec.latent);
  head_prepared =
      take(Rows::bytes(COLIBRI_CODEC_Q8_32, rows_of_heads, std::max(spec.latent, spec.head_dim)));
  list(head_begin, spec.heads + 1);
  shared(head_row, rows_of_heads);
  return used;
}

Workspace::Bytes Workspace::bytes(const model::ModelSpec& spec, int64_t max_rows, PassPlace place) {
  return Workspace().carve(spec, max_rows, place);
}

Result<Workspace> Workspace::create(const model::ModelSpec& spec, int64_t max_rows, PassPlace place,
                                    const plugin::Device* device) {
  const Bytes size = bytes(spec, max_rows, place);
  Workspace work;
  COLIBRI_ASSIGN(work.rows, Block::allocate(device, size.rows, "the forward pass"));
  COLIBRI_ASSIGN(work.host, Memory::allocate(size.host, "lists of the forward pass"));
  work.carve(spec, max_rows, place);
  return work;
}

}  // namespace colibri::engine
