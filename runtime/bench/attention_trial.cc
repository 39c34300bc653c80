// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/attention_trial.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/engine/arguments.h"

namespace colibri::bench {
namespace {

using engine::arguments;
using engine::columns;
using engine::KvCache;
using engine::Rows;

constexpr size_t kMostLayers = 1024;

void touch(const colibri_tensor& cache) {
  if (cache.buffer == nullptr || cache.rank == 0) return;
  std::memset(engine::address(cache), 0, static_cast<size_t>(cache.shape[0] * cache.stride[0]));
}

}  // namespace

AttentionTrial::AttentionTrial(plugin::KernelChooser chooser, const engine::Plan& plan,
                               const engine::OperatorDesc& of, int64_t tokens)
    : Trial(std::move(chooser)), plan_(plan), op_(of.get().op), tokens_(tokens) {
  if (op_ != COLIBRI_OP_ATTENTION) return;
  colibri_attention_attributes attributes;
  std::memcpy(&attributes, of.get().attributes, sizeof(attributes));
  window_ = attributes.window;
  sinks_ = attributes.sinks != 0;
}

Result<std::unique_ptr<Trial>> AttentionTrial::create(const engine::Plan& plan,
                                                      const std::string& plugin_id,
                                                      const engine::OperatorDesc& of, int64_t rows,
                                                      const Past& past) {
  COLIBRI_ASSIGN(plugin::KernelChooser chooser, pinned(plan, plugin_id, of));
  std::unique_ptr<AttentionTrial> made(
      new AttentionTrial(std::move(chooser), plan, of, past.tokens));
  COLIBRI_TRY(made->create_operator(of, nullptr));
  COLIBRI_TRY(made->take_memory(rows, past.cycle_bytes));
  return std::unique_ptr<Trial>(std::move(made));
}

Status AttentionTrial::take_memory(int64_t rows, uint64_t cycle_bytes) {
  model::ModelSpec spec;
  spec.attention = plan_.spec.attention;
  spec.kv_heads = plan_.spec.kv_heads;
  spec.head_dim = plan_.spec.head_dim;
  spec.latent = plan_.spec.latent;
  spec.rope.dims = plan_.spec.rope.dims;
  spec.layers.resize(1);
  const uint32_t codec = plan_.pipeline.context.kv;
  layer_bytes_ = KvCache::bytes(spec, codec, tokens_);
  layers_ = std::min<size_t>(cycle_bytes / layer_bytes_ + 1, kMostLayers);
  spec.layers.resize(layers_);
  COLIBRI_ASSIGN(cache_, KvCache::create(spec, codec, tokens_));
  for (size_t layer = 0; layer < layers_; ++layer) {
    touch(*cache_->k(layer));
    touch(*cache_->v(layer));
  }
  for (int64_t i = 0; i < rows; ++i) {
    position_.push_back(static_cast<int32_t>(std::max<int64_t>(tokens_ - rows + i, 0)));
  }
  sink_.resize(static_cast<size_t>(plan_.spec.heads));
  const int64_t cols =
      plan_.spec.heads * (plan_.spec.head_dim + plan_.spec.latent + plan_.spec.rope.dims);
  COLIBRI_ASSIGN(input_, Memory::allocate(Rows::bytes(COLIBRI_CODEC_F32, rows, cols), "rows"));
  COLIBRI_ASSIGN(output_, Memory::allocate(Rows::bytes(COLIBRI_CODEC_F32, rows, cols), "rows"));
  return {};
}

Status AttentionTrial::run(engine::PhaseRunner& runner, const Shape& shape) {
  const size_t layer = next_;
  next_ = (next_ + 1) % layers_;
  if (op_ == COLIBRI_OP_KV_WRITE) return write(runner, shape.rows, layer);
  return op_ == COLIBRI_OP_ATTENTION ? attend(runner, shape.rows, layer)
                                     : attend_latent(runner, shape.rows, layer);
}

Status AttentionTrial::write(engine::PhaseRunner& runner, int64_t rows, size_t layer) {
  const model::ModelSpec& spec = plan_.spec;
  const bool latent = spec.attention == model::AttentionKind::kMla;
  const int64_t cols = latent ? spec.latent + spec.rope.dims : spec.kv_heads * spec.head_dim;
  auto call = arguments<colibri_kv_write_args>();
  call.k = Rows(COLIBRI_CODEC_F32, cols, input_.data()).view(rows);
  if (!latent) call.v = call.k;
  call.position = position(rows);
  call.k_cache = cache_->k(layer);
  call.v_cache = cache_->v(layer);
  return runner.run_light(rows, {{&op(), &call}});
}

Status AttentionTrial::attend(engine::PhaseRunner& runner, int64_t rows, size_t layer) {
  const int64_t cols = plan_.spec.heads * plan_.spec.head_dim;
  auto call = arguments<colibri_attention_args>();
  call.q = Rows(COLIBRI_CODEC_F32, cols, input_.data()).view(rows);
  call.output = Rows(COLIBRI_CODEC_F32, cols, output_.data()).view(rows);
  call.position = position(rows);
  call.k_cache = cache_->k(layer);
  call.v_cache = cache_->v(layer);
  if (sinks_) call.sink = sink_.data();
  return runner.run({{&op(), &call}});
}

Status AttentionTrial::attend_latent(engine::PhaseRunner& runner, int64_t rows, size_t layer) {
  const model::ModelSpec& spec = plan_.spec;
  const colibri_tensor queries =
      Rows(COLIBRI_CODEC_F32, spec.latent + spec.rope.dims, input_.data()).view(rows * spec.heads);
  auto call = arguments<colibri_mla_attention_args>();
  call.q_latent = columns(queries, 0, spec.latent);
  call.q_rope = columns(queries, spec.latent, spec.rope.dims);
  call.output = Rows(COLIBRI_CODEC_F32, spec.latent, output_.data()).view(rows * spec.heads);
  call.position = position(rows);
  call.cache = cache_->k(layer);
  return runner.run({{&op(), &call}});
}

Work AttentionTrial::work(const Shape& shape) const {
  Work work;
  if (op_ == COLIBRI_OP_KV_WRITE) return work;
  const model::ModelSpec& spec = plan_.spec;
  const bool latent = op_ == COLIBRI_OP_MLA_ATTENTION;
  const auto per_key =
      static_cast<double>(latent ? 2 * spec.latent + spec.rope.dims : 2 * spec.head_dim);
  const int64_t first = position(shape.rows)[0];
  const int64_t begin = window_ == 0 ? 0 : std::max<int64_t>(first + 1 - window_, 0);
  const double keys = visible_keys(window_, first, first + shape.rows);
  work.f32 = 2 * static_cast<double>(spec.heads) * per_key * keys;
  work.bytes = static_cast<double>(layer_bytes_) * static_cast<double>(first + shape.rows - begin) /
               static_cast<double>(tokens_);
  return work;
}

}  // namespace colibri::bench
