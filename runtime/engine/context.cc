// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/context.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "runtime/engine/arguments.h"

namespace colibri::engine {
Result<std::unique_ptr<Context>> Context::create(const ForwardParts& parts, int64_t max_tokens,
                                                 unsigned threads) {
  if (max_tokens < 1 || max_tokens > parts.spec->max_tokens) {
    return invalid_argument("a context of " + std::to_string(max_tokens) +
                            " tokens: the model takes 1 to " +
                            std::to_string(parts.spec->max_tokens));
  }
  COLIBRI_ASSIGN(PhaseRunner runner, PhaseRunner::create(threads, parts.scratch_bytes));
  std::unique_ptr<Context> context(new Context(parts, max_tokens, std::move(runner)));
  if (parts.store != nullptr) {
    COLIBRI_ASSIGN(context->visit_, experts::Visit::create(*parts.store, threads));
  }
  COLIBRI_ASSIGN(context->work_, Workspace::create(*parts.spec, parts.max_rows));
  COLIBRI_ASSIGN(context->cache_, KvCache::create(*parts.spec, parts.kv, max_tokens));
  return context;
}

Context::Context(const ForwardParts& parts, int64_t max_tokens, PhaseRunner runner)
    : parts_(parts),
      max_tokens_(max_tokens),
      runner_(std::move(runner)),
      routing_(parts.max_rows, parts.spec->top_k, parts.spec->experts),
      weights_(
          static_cast<size_t>(std::max({2 * parts.spec->experts, parts.spec->heads, int64_t{2}}))),
      biases_(weights_.size()) {}

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
    const int64_t last = done + n == ids.size() ? 1 : 0;
    const int64_t wanted = which == LogitsOf::kAll ? rows : last;
    COLIBRI_TRY(pass(ids.subspan(done, n), tokens_ + static_cast<int64_t>(done), wanted, limits));
    COLIBRI_TRY(head(wanted, logits + (which == LogitsOf::kAll ? done * vocabulary : 0)));
    done += n;
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

Status Context::pass(std::span<const int32_t> ids, int64_t first_position, int64_t wanted,
                     const RunLimits& limits) {
  const auto rows = static_cast<int64_t>(ids.size());
  for (int64_t i = 0; i < rows; ++i) {
    work_.position[i] = static_cast<int32_t>(first_position + i);
  }
  auto embed = arguments<colibri_embed_args>();
  embed.table = parts_.layers->embedding->tensor;
  embed.ids = vector(rows, const_cast<int32_t*>(ids.data()));
  embed.ids.dtype = COLIBRI_CODEC_I32;
  embed.output = work_.residual.view(rows);
  COLIBRI_TRY(runner_.run_light(rows, {{parts_.layers->embed, &embed}}));

  const uint64_t step = parts_.store == nullptr ? 0 : parts_.store->next_step();
  for (size_t i = 0; i < parts_.layers->layers.size(); ++i) {
    COLIBRI_TRY(limits.check());
    const Layer& layer = parts_.layers->layers[i];
    const PassRows here = {rows, i + 1 == parts_.layers->layers.size() ? wanted : rows};
    COLIBRI_TRY(attend(layer, i, here));
    if (here.wanted > 0) COLIBRI_TRY(feed_forward(layer, here.wanted, step));
  }
  return {};
}

Status Context::head(int64_t rows, float* logits) {
  if (rows == 0) return {};
  const Layers& layers = *parts_.layers;
  const colibri_tensor normed = work_.normed.view(rows);
  const colibri_tensor normed_prepared = work_.normed_prepared.view(rows);
  const auto norm = norm_arguments(layers.final_norm, work_.residual.view(rows), normed);
  COLIBRI_TRY(runner_.run_light(rows, {{layers.final_norm.op, &norm}}));
  const auto prepare = quantize_arguments(normed, normed_prepared);
  COLIBRI_TRY(runner_.run_light(rows, {{layers.quantize_head_input, &prepare}}));
  const int64_t vocabulary = parts_.spec->vocabulary;
  const Product head(layers.head, normed, normed_prepared,
                     matrix(COLIBRI_CODEC_F32, COLIBRI_LAYOUT_ROWS, rows, vocabulary, logits));
  COLIBRI_TRY(runner_.run({{layers.head.op, head.get()}}));
  const float scale = parts_.spec->logits_scale;
  if (scale == 1) return {};
  for (int64_t i = 0; i < rows * vocabulary; ++i) logits[i] *= scale;
  return {};
}

}  // namespace colibri::engine
