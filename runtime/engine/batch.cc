// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/batch.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "runtime/engine/arguments.h"
#include "runtime/engine/context.h"

namespace colibri::engine {

Result<std::unique_ptr<Batch>> Batch::create(const ForwardParts& parts, unsigned threads) {
  const bool no_threads = parts.place() == PassPlace::kDevice;
  COLIBRI_ASSIGN(PhaseRunner runner,
                 PhaseRunner::create(no_threads ? 1 : threads, parts.scratch_bytes));
  if (parts.device != nullptr) {
    COLIBRI_TRY(runner.use_device(*parts.device, parts.device_scratch_bytes));
  }
  std::unique_ptr<Batch> batch(new Batch(parts, std::move(runner)));
  if (parts.store != nullptr) {
    COLIBRI_ASSIGN(batch->visit_, experts::Visit::create(*parts.store));
  }
  COLIBRI_ASSIGN(batch->work_,
                 Workspace::create(*parts.spec, parts.max_rows, parts.place(), parts.device));
  return batch;
}

Batch::Batch(const ForwardParts& parts, PhaseRunner runner)
    : parts_(parts),
      runner_(std::move(runner)),
      routing_(parts.max_rows, parts.spec->top_k, parts.spec->experts),
      weights_(
          static_cast<size_t>(std::max({2 * parts.spec->experts, parts.spec->heads, int64_t{2}}))),
      biases_(weights_.size()),
      k_cache_(static_cast<size_t>(parts.max_rows)),
      v_cache_(k_cache_.size()) {
  sequences_.reserve(k_cache_.size());
  guessed_.reserve(static_cast<size_t>(Workspace::kGuessRows * parts.spec->top_k));
  if (parts.device_experts == nullptr) return;
  on_device_.reserve(static_cast<size_t>(parts.spec->experts));
  stay_ = std::make_unique<experts::Stay>(parts.device_experts->tier().shape());
}

Status Batch::check(const Chunk& chunk) const {
  const Context& context = *chunk.context;
  if (context.parts_.layers != parts_.layers) {
    return invalid_argument("the context is of another model than the batch");
  }
  if (chunk.ids.empty()) return invalid_argument("no tokens to compute; give at least one id");
  if (chunk.rows() > context.max_tokens() - context.tokens()) {
    return invalid_argument("the context is full: it holds " + std::to_string(context.tokens()) +
                            " of " + std::to_string(context.max_tokens()) + " tokens and " +
                            std::to_string(chunk.rows()) +
                            " more were given; raise context.max_tokens or shorten the input");
  }
  for (size_t i = 0; i < chunk.ids.size(); ++i) {
    if (chunk.ids[i] >= 0 && chunk.ids[i] < parts_.spec->vocabulary) continue;
    return invalid_argument("id " + std::to_string(chunk.ids[i]) + " at index " +
                            std::to_string(i) + " is outside the vocabulary of " +
                            std::to_string(parts_.spec->vocabulary));
  }
  return {};
}

Status Batch::check(std::span<const Chunk> chunks) const {
  if (chunks.empty()) return invalid_argument("a batch without a chunk; give at least one");
  for (size_t i = 0; i < chunks.size(); ++i) {
    Status status = check(chunks[i]);
    for (size_t j = 0; status.ok() && j < i; ++j) {
      if (chunks[i].context != chunks[j].context) continue;
      status = invalid_argument("the same context as in chunk " + std::to_string(j));
    }
    if (status.ok()) continue;
    return chunks.size() == 1 ? status : status.at("chunk " + std::to_string(i));
  }
  return {};
}

Status Batch::forward(std::span<const Chunk> chunks, float* logits, const RunLimits& limits) {
  COLIBRI_TRY(check(chunks));
  Status status = compute(chunks, logits, limits);
  if (runner_.queue() != nullptr) {
    // Also after a failure: nothing uses the sequences any more.
    Status done = runner_.queue()->wait();
    if (stay_ != nullptr) parts_.device_experts->tier().end(*stay_);
    if (status.ok()) status = std::move(done);
  }
  COLIBRI_TRY(std::move(status));
  for (const Chunk& chunk : chunks) chunk.context->tokens_ += chunk.rows();
  return {};
}

Status Batch::compute(std::span<const Chunk> chunks, float* logits, const RunLimits& limits) {
  const bool decode = std::all_of(chunks.begin(), chunks.end(),
                                  [](const Chunk& chunk) { return chunk.ids.size() == 1; });
  const unsigned planned = decode ? parts_.decode_threads : threads();
  runner_.use_threads(limits.threads == 0 ? planned : std::min(limits.threads, threads()));
  float* next = logits;
  for (Cursor at; at.chunk < chunks.size();) {
    next_rows(chunks, at);
    COLIBRI_TRY(pass(limits));
    COLIBRI_TRY(head(wanted_, next));
    next += wanted_ * parts_.spec->vocabulary;
  }
  return check_finite(chunks, logits);
}

void Batch::next_rows(std::span<const Chunk> chunks, Cursor& at) {
  rows_ = wanted_ = 0;
  sequences_.clear();
  while (at.chunk < chunks.size() && rows_ < parts_.max_rows) {
    const Chunk& chunk = chunks[at.chunk];
    const auto sequence = static_cast<int32_t>(sequences_.size());
    sequences_.push_back(chunk.context);
    for (; at.row < chunk.rows() && rows_ < parts_.max_rows; ++at.row, ++rows_) {
      const auto position = static_cast<int32_t>(chunk.context->tokens() + at.row);
      work_.ids.host[rows_] = chunk.ids[static_cast<size_t>(at.row)];
      work_.position[rows_] = position;
      work_.sequence[rows_] = sequence;
      if (at.row < chunk.rows() - chunk.logits_rows()) continue;
      work_.wanted.host[wanted_] = static_cast<int32_t>(rows_);
      work_.wanted_position[wanted_] = position;
      work_.wanted_sequence[wanted_++] = sequence;
    }
    if (at.row == chunk.rows()) at = {at.chunk + 1, 0};
  }
}

Result<const int32_t*> Batch::given(const int32_t* list, int32_t* there, int64_t n) {
  if (runner_.queue() == nullptr || n == 0) return list;
  const auto offset =
      static_cast<uint64_t>(reinterpret_cast<std::byte*>(there) - work_.rows.data());
  COLIBRI_TRY(runner_.queue()->copy_in(work_.rows.data(), offset, list,
                                       static_cast<uint64_t>(n) * sizeof(*list)));
  return static_cast<const int32_t*>(there);
}

Status Batch::fetch(const SharedList<int32_t>& list, int64_t n) {
  if (runner_.queue() == nullptr) return {};
  const auto offset =
      static_cast<uint64_t>(reinterpret_cast<std::byte*>(list.there) - work_.rows.data());
  COLIBRI_TRY(runner_.queue()->copy_out(list.host, work_.rows.data(), offset,
                                        static_cast<uint64_t>(n) * sizeof(*list.host)));
  return runner_.queue()->wait();
}

Status Batch::fetch_later(const colibri_tensor& from, const colibri_tensor& to) {
  return runner_.queue()->copy_out(address(to), static_cast<const std::byte*>(from.buffer),
                                   from.offset,
                                   static_cast<uint64_t>(from.shape[0] * from.stride[0]));
}

colibri_tensor Batch::at(colibri_tensor view, int32_t* there) const {
  auto* const address = reinterpret_cast<std::byte*>(there);
  view.buffer = parts_.device == nullptr ? address : work_.rows.data();
  view.offset = parts_.device == nullptr ? 0 : static_cast<uint64_t>(address - work_.rows.data());
  return view;
}

Status Batch::pass(const RunLimits& limits) {
  COLIBRI_TRY(given(work_.ids.host, work_.ids.there, rows_).status());
  COLIBRI_TRY(given(work_.wanted.host, work_.wanted.there, wanted_).status());
  auto embed = arguments<colibri_embed_args>();
  embed.table = parts_.layers->embedding->tensor;
  embed.ids = at(vector(rows_), work_.ids.there);
  embed.ids.dtype = COLIBRI_CODEC_I32;
  embed.output = work_.residual.view(rows_);
  COLIBRI_TRY(runner_.run_light(rows_, {{parts_.layers->embed, &embed}}));
  Status status = run_layers(limits);
  if (!status.ok() && visit_ != nullptr) visit_->end();
  return status;
}

Status Batch::run_layers(const RunLimits& limits) {
  const Leaving all = {rows_, {}, work_.position, sequence()};
  Leaving last = all;
  if (wanted_ < rows_) {
    last = {wanted_,
            {work_.wanted.host, work_.wanted.there},
            work_.wanted_position,
            sequence() == nullptr ? nullptr : work_.wanted_sequence};
  }
  const uint64_t step = parts_.store == nullptr ? 0 : parts_.store->next_step();
  for (size_t i = 0; i < parts_.layers->layers.size(); ++i) {
    COLIBRI_TRY(limits.check());
    const Layer& layer = parts_.layers->layers[i];
    const Leaving& leaving = i + 1 == parts_.layers->layers.size() ? last : all;
    COLIBRI_TRY(attend(layer, i, leaving));
    if (leaving.rows == 0) continue;
    const Layer* const next = i + 1 == parts_.layers->layers.size() ? nullptr : &layer + 1;
    COLIBRI_TRY(feed_forward(layer, next, leaving.rows, step));
  }
  return {};
}

Status Batch::head(int64_t rows, float* logits) {
  if (rows == 0) return {};
  const Layers& layers = *parts_.layers;
  const colibri_tensor normed = work_.normed.view(rows);
  const colibri_tensor normed_prepared = work_.normed_prepared.view(rows);
  const auto norm = norm_arguments(layers.final_norm, work_.residual.view(rows), normed);
  COLIBRI_TRY(runner_.run_light(rows, {{layers.final_norm.op, &norm}}));
  const auto prepare = quantize_arguments(normed, normed_prepared);
  COLIBRI_TRY(runner_.run_light(rows, {{layers.quantize_head_input, &prepare}}));
  const int64_t vocabulary = parts_.spec->vocabulary;
  if (runner_.queue() != nullptr) {
    COLIBRI_TRY(head_on_device(rows, logits));
  } else {
    const Product head(layers.head, normed, normed_prepared,
                       matrix(COLIBRI_CODEC_F32, COLIBRI_LAYOUT_ROWS, rows, vocabulary, logits));
    COLIBRI_TRY(runner_.run({{layers.head.op, head.get()}}));
  }
  const float scale = parts_.spec->logits_scale;
  if (scale == 1) return {};
  for (int64_t i = 0; i < rows * vocabulary; ++i) logits[i] *= scale;
  return {};
}

Status Batch::head_on_device(int64_t rows, float* logits) {
  const Linear& head = parts_.layers->head;
  const int64_t vocabulary = parts_.spec->vocabulary;
  const int64_t step = Workspace::head_rows(parts_.max_rows);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t n = std::min(step, rows - begin);
    const colibri_tensor output = work_.head_logits.view(n);
    const Product product(head, work_.normed.view(begin, n), work_.normed_prepared.view(begin, n),
                          output);
    COLIBRI_TRY(runner_.run({{head.op, product.get()}}));
    COLIBRI_TRY(runner_.queue()->copy_out(
        logits + begin * vocabulary, static_cast<const std::byte*>(output.buffer), output.offset,
        static_cast<uint64_t>(n * vocabulary) * sizeof(float)));
  }
  return runner_.queue()->wait();
}

Status Batch::check_finite(std::span<const Chunk> chunks, const float* logits) const {
  for (size_t at = 0; at < chunks.size(); ++at) {
    const Chunk& chunk = chunks[at];
    const int64_t first = chunk.context->tokens() + chunk.rows() - chunk.logits_rows();
    for (int64_t row = 0; row < chunk.logits_rows(); ++row) {
      for (int64_t id = 0; id < parts_.spec->vocabulary; ++id) {
        const float logit = *logits++;
        if (std::isfinite(logit)) continue;
        const Status status = corrupt_data(
            "the logit of id " + std::to_string(id) + " at position " +
            std::to_string(first + row) + (std::isnan(logit) ? " is NaN" : " is infinite") +
            ": the weights are damaged or the model overflows; check the model files");
        return chunks.size() == 1 ? status : status.at("chunk " + std::to_string(at));
      }
    }
  }
  return {};
}

}  // namespace colibri::engine
