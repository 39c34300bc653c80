// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/context.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "runtime/engine/rows.h"

namespace colibri::engine {
namespace {

template <typename Arguments>
Arguments arguments() {
  Arguments made = {};
  made.struct_size = sizeof(made);
  return made;
}

bool prepared(const Placed& placed) {
  return wants_prepared_rows(placed.tensor.dtype);
}

// A matmul with one weight: one group of all rows.
class Linear {
 public:
  Linear(const Placed& weight, const Rows& input, const Rows& input_prepared, const Rows& output,
         int64_t rows, int64_t first = 0)
      : Linear(weight, input, input_prepared, output.view(rows), rows, first) {}
  Linear(const Placed& weight, const Rows& input, const Rows& input_prepared,
         const colibri_tensor& output, int64_t rows, int64_t first = 0)
      : groups_{0, rows}, arguments_(arguments<colibri_grouped_matmul_args>()) {
    arguments_.weights_per_group = 1;
    arguments_.groups = 1;
    arguments_.group_begin = groups_;
    arguments_.weight = &weight.tensor;
    arguments_.input = (prepared(weight) ? input_prepared : input).view(rows, first);
    arguments_.output = output;
  }
  Linear(const Linear&) = delete;
  Linear& operator=(const Linear&) = delete;

  const void* get() const { return &arguments_; }

 private:
  const int64_t groups_[2];
  colibri_grouped_matmul_args arguments_;
};

colibri_quantize_rows_args quantize_arguments(const Rows& from, const Rows& to, int64_t rows,
                                              int64_t first = 0) {
  auto a = arguments<colibri_quantize_rows_args>();
  a.input = from.view(rows, first);
  a.output = to.view(rows, first);
  return a;
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const ForwardParts& parts, int64_t max_tokens,
                                                 unsigned threads) {
  if (max_tokens < 1 || max_tokens > parts.spec->max_tokens) {
    return invalid_argument("a context of " + std::to_string(max_tokens) +
                            " tokens: the model takes 1 to " +
                            std::to_string(parts.spec->max_tokens));
  }
  COLIBRI_ASSIGN(PhaseRunner runner, PhaseRunner::create(threads, parts.scratch_bytes));
  std::unique_ptr<Context> context(new Context(parts, max_tokens, std::move(runner)));
  COLIBRI_ASSIGN(context->visit_, experts::Visit::create(*parts.store, threads));
  COLIBRI_ASSIGN(context->work_, Workspace::create(*parts.spec, parts.max_rows));
  COLIBRI_ASSIGN(context->cache_, KvCache::create(*parts.spec, parts.kv, max_tokens));
  return context;
}

Context::Context(const ForwardParts& parts, int64_t max_tokens, PhaseRunner runner)
    : parts_(parts),
      max_tokens_(max_tokens),
      runner_(std::move(runner)),
      routing_(parts.max_rows, parts.spec->top_k, parts.spec->experts),
      expert_weights_(static_cast<size_t>(2 * parts.spec->experts)) {}

Status Context::check(std::span<const int32_t> ids) const {
  if (ids.empty()) return invalid_argument("no tokens to compute; give at least one id");
  const auto n = static_cast<int64_t>(ids.size());
  if (n > max_tokens_ - tokens_) {
    return invalid_argument("the context is full: it holds " + std::to_string(tokens_) + " of " +
                            std::to_string(max_tokens_) + " tokens and " + std::to_string(n) +
                            " more were given; raise context.max_tokens or shorten the input");
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < parts_.spec->vocabulary) continue;
    return invalid_argument("id " + std::to_string(ids[i]) + " at index " + std::to_string(i) +
                            " is outside the vocabulary of " +
                            std::to_string(parts_.spec->vocabulary));
  }
  return {};
}

Status Context::forward(std::span<const int32_t> ids, LogitsOf which, float* logits,
                        const RunLimits& limits) {
  COLIBRI_TRY(check(ids));
  runner_.use_threads(limits.threads == 0 ? threads() : std::min(limits.threads, threads()));
  const auto vocabulary = static_cast<size_t>(parts_.spec->vocabulary);
  size_t done = 0;
  while (done < ids.size()) {
    const size_t n = std::min(ids.size() - done, static_cast<size_t>(parts_.max_rows));
    const auto rows = static_cast<int64_t>(n);
    COLIBRI_TRY(pass(ids.subspan(done, n), tokens_ + static_cast<int64_t>(done), limits));
    done += n;
    if (which == LogitsOf::kAll) {
      COLIBRI_TRY(head(0, rows, logits + (done - n) * vocabulary));
    } else if (done == ids.size()) {
      COLIBRI_TRY(head(rows - 1, 1, logits));
    }
  }
  const size_t values = (which == LogitsOf::kAll ? ids.size() : 1) * vocabulary;
  for (size_t i = 0; i < values; ++i) {
    if (std::isfinite(logits[i])) continue;
    const size_t row = which == LogitsOf::kAll ? i / vocabulary : ids.size() - 1;
    return corrupt_data("the logit of id " + std::to_string(i % vocabulary) + " at position " +
                        std::to_string(tokens_ + static_cast<int64_t>(row)) +
                        (std::isnan(logits[i]) ? " is NaN" : " is infinite") +
                        ": the weights are damaged or the model overflows; check the model files");
  }
  tokens_ += static_cast<int64_t>(ids.size());
  return {};
}

Status Context::pass(std::span<const int32_t> ids, int64_t first_position,
                     const RunLimits& limits) {
  const auto rows = static_cast<int64_t>(ids.size());
  for (int64_t i = 0; i < rows; ++i) {
    work_.position[i] = static_cast<int32_t>(first_position + i);
  }
  auto embed = arguments<colibri_embed_args>();
  embed.table = parts_.layers->embedding_weight.tensor;
  embed.ids = vector(rows, const_cast<int32_t*>(ids.data()));
  embed.ids.dtype = COLIBRI_CODEC_I32;
  embed.output = work_.residual.view(rows);
  COLIBRI_TRY(runner_.run({{parts_.layers->embed, &embed}}));

  const uint64_t step = parts_.store->next_step();
  for (size_t i = 0; i < parts_.layers->layers.size(); ++i) {
    COLIBRI_TRY(limits.check());
    const Layer& layer = parts_.layers->layers[i];
    COLIBRI_TRY(attend(layer, i, rows));
    COLIBRI_TRY(route(layer, i, rows, step));
  }
  return {};
}

Status Context::attend(const Layer& layer, size_t index, int64_t rows) {
  auto norm = arguments<colibri_norm_args>();
  norm.weight = layer.attention_norm_weight.tensor;
  norm.input = work_.residual.view(rows);
  norm.output = work_.normed.view(rows);
  COLIBRI_TRY(runner_.run({{layer.attention_norm, &norm}}));
  const auto prepare = quantize_arguments(work_.normed, work_.normed_prepared, rows);
  COLIBRI_TRY(runner_.run({{layer.quantize_attention_input, &prepare}}));

  const Linear q(layer.q_weight, work_.normed, work_.normed_prepared, work_.q, rows);
  const Linear k(layer.k_weight, work_.normed, work_.normed_prepared, work_.k, rows);
  const Linear v(layer.v_weight, work_.normed, work_.normed_prepared, work_.v, rows);
  COLIBRI_TRY(runner_.run({{layer.q, q.get()}, {layer.k, k.get()}, {layer.v, v.get()}}));

  auto rope_q = arguments<colibri_rope_args>();
  rope_q.x = work_.q.view(rows);
  rope_q.position = work_.position;
  rope_q.cosine = parts_.rope->cosine();
  rope_q.sine = parts_.rope->sine();
  auto rope_k = rope_q;
  rope_k.x = work_.k.view(rows);
  COLIBRI_TRY(runner_.run({{layer.rope_q, &rope_q}, {layer.rope_k, &rope_k}}));

  auto write = arguments<colibri_kv_write_args>();
  write.k = work_.k.view(rows);
  write.v = work_.v.view(rows);
  write.position = work_.position;
  write.k_cache = cache_.k(index);
  write.v_cache = cache_.v(index);
  COLIBRI_TRY(runner_.run({{layer.kv_write, &write}}));

  auto attention = arguments<colibri_attention_args>();
  attention.q = work_.q.view(rows);
  attention.output = work_.attended.view(rows);
  attention.position = work_.position;
  attention.k_cache = cache_.k(index);
  attention.v_cache = cache_.v(index);
  COLIBRI_TRY(runner_.run({{layer.attention, &attention}}));

  const auto prepare_out = quantize_arguments(work_.attended, work_.attended_prepared, rows);
  COLIBRI_TRY(runner_.run({{layer.quantize_attention_output, &prepare_out}}));
  const Linear o(layer.o_weight, work_.attended, work_.attended_prepared, work_.attention_out,
                 rows);
  COLIBRI_TRY(runner_.run({{layer.o, o.get()}}));

  auto add = arguments<colibri_combine_args>();
  add.residual = work_.residual.view(rows);
  add.row = work_.attention_out.view(rows);
  add.output = work_.residual.view(rows);
  return runner_.run({{layer.add, &add}});
}

Status Context::route(const Layer& layer, size_t index, int64_t rows, uint64_t step) {
  auto norm = arguments<colibri_norm_args>();
  norm.weight = layer.ffn_norm_weight.tensor;
  norm.input = work_.residual.view(rows);
  norm.output = work_.normed.view(rows);
  COLIBRI_TRY(runner_.run({{layer.ffn_norm, &norm}}));

  const auto prepare = quantize_arguments(work_.normed, work_.normed_prepared, rows);
  const int64_t top_k = parts_.spec->top_k;
  auto router = arguments<colibri_router_args>();
  router.weight = layer.router_weight.tensor;
  router.input = work_.normed.view(rows);
  router.expert = matrix(COLIBRI_CODEC_I32, COLIBRI_LAYOUT_ROWS, rows, top_k, work_.chosen);
  router.expert.stride[0] = top_k * 4;
  router.expert.stride[1] = 4;
  router.score = matrix(COLIBRI_CODEC_F32, COLIBRI_LAYOUT_ROWS, rows, top_k, work_.score);
  COLIBRI_TRY(runner_.run({{layer.router, &router}, {layer.quantize_ffn_input, &prepare}}));

  for (int64_t i = 0; i < rows * top_k; ++i) {
    if (work_.chosen[i] >= 0 && work_.chosen[i] < parts_.spec->experts) continue;
    return internal_error("plugin " + layer.router->choice().plugin->id() +
                          ": the router chose expert " + std::to_string(work_.chosen[i]) + " of " +
                          std::to_string(parts_.spec->experts));
  }
  routing_.begin(work_.chosen, rows);
  visit_->begin(step, static_cast<uint32_t>(index), routing_.distinct());
  for (;;) {
    COLIBRI_ASSIGN(const auto wave, visit_->next(runner_.pool(), runner_.threads()));
    if (wave.empty()) break;
    if (Status status = run_experts(layer, rows, wave); !status.ok()) {
      visit_->end();
      return status;
    }
  }

  auto combine = arguments<colibri_combine_args>();
  combine.residual = work_.residual.view(rows);
  combine.row = work_.expert_out.view(rows * top_k);
  combine.row_index = routing_.row_of_pair();
  combine.weight = work_.score;
  combine.output = work_.residual.view(rows);
  return runner_.run({{layer.combine, &combine}});
}

Status Context::run_experts(const Layer& layer, int64_t rows,
                            std::span<const experts::Visit::Lease> wave) {
  const auto view = [](const Placed& placed, const experts::Visit::Lease& lease) {
    colibri_tensor tensor = placed.tensor;
    tensor.buffer = const_cast<std::byte*>(lease.data) + placed.offset;
    return tensor;
  };
  routing_.begin_wave();
  for (size_t i = 0; i < wave.size(); ++i) {
    routing_.add(static_cast<int32_t>(wave[i].expert));
    expert_weights_[2 * i] = view(layer.gate_weight, wave[i]);
    expert_weights_[2 * i + 1] = view(layer.up_weight, wave[i]);
  }
  const int64_t product_rows = routing_.group_begin()[routing_.groups()];
  const Rows& inner = prepared(layer.down_weight) ? work_.inner_prepared : work_.inner;
  auto gate_up = arguments<colibri_grouped_matmul_args>();
  gate_up.weights_per_group = 2;
  gate_up.groups = routing_.groups();
  gate_up.group_begin = routing_.group_begin();
  gate_up.row_index = routing_.token_of_row();
  gate_up.weight = expert_weights_.data();
  gate_up.input = (prepared(layer.gate_weight) ? work_.normed_prepared : work_.normed).view(rows);
  gate_up.output = inner.view(product_rows);
  COLIBRI_TRY(runner_.run({{layer.gate_up, &gate_up}}));

  for (size_t i = 0; i < wave.size(); ++i) expert_weights_[i] = view(layer.down_weight, wave[i]);
  auto down = gate_up;
  down.weights_per_group = 1;
  down.row_index = nullptr;
  down.input = inner.view(product_rows);
  down.output = work_.expert_out.view(product_rows);
  return runner_.run({{layer.down, &down}});
}

Status Context::head(int64_t first, int64_t rows, float* logits) {
  const Layers& layers = *parts_.layers;
  auto norm = arguments<colibri_norm_args>();
  norm.weight = layers.final_norm_weight.tensor;
  norm.input = work_.residual.view(rows, first);
  norm.output = work_.normed.view(rows, first);
  COLIBRI_TRY(runner_.run({{layers.final_norm, &norm}}));
  const auto prepare = quantize_arguments(work_.normed, work_.normed_prepared, rows, first);
  COLIBRI_TRY(runner_.run({{layers.quantize_head_input, &prepare}}));
  const Linear head(
      layers.head_weight, work_.normed, work_.normed_prepared,
      matrix(COLIBRI_CODEC_F32, COLIBRI_LAYOUT_ROWS, rows, parts_.spec->vocabulary, logits), rows,
      first);
  return runner_.run({{layers.head, head.get()}});
}

}  // namespace colibri::engine
