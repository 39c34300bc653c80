// SPDX-License-Identifier: Apache-2.0
// Context: one sequence, its key-value cache, and all memory that a forward pass needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/kv_cache.h"
#include "runtime/engine/layers.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/phase.h"
#include "runtime/engine/recorder.h"
#include "runtime/engine/rope_table.h"
#include "runtime/engine/routing.h"
#include "runtime/engine/workspace.h"
#include "runtime/experts/route_trace.h"
#include "runtime/experts/store.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

// What contexts share of a loaded model.
struct ForwardParts {
  const model::ModelSpec* spec = nullptr;
  const Layers* layers = nullptr;
  const RopeTable* rope = nullptr;
  experts::Store* store = nullptr;                   // null = no layer has experts
  experts::RouteTraceWriter* route_trace = nullptr;  // null = routes are not recorded
  uint32_t kv = COLIBRI_CODEC_F16;
  int64_t max_rows = 1;        // rows of one pass over the layers
  uint64_t scratch_bytes = 0;  // of a worker
};

enum class LogitsOf { kLast, kAll };

// Used by one thread at a time; contexts of one model are independent. Nothing is allocated after
// create(), but for messages of failures.
class Context {
 public:
  static Result<std::unique_ptr<Context>> create(const ForwardParts& parts, int64_t max_tokens,
                                                 unsigned threads);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int64_t tokens() const { return tokens_; }  // in the sequence
  int64_t max_tokens() const { return max_tokens_; }
  int64_t vocabulary() const { return parts_.spec->vocabulary; }
  unsigned threads() const { return runner_.pool().threads(); }
  void reset() { tokens_ = 0; }
  // What the workers do from now on goes to a recorder of at least threads() workers; null ends it.
  void record_to(Recorder* recorder) { runner_.record_to(recorder); }
  // Forgets the tokens from position `tokens` on, which is at most tokens().
  void truncate(int64_t tokens) { tokens_ = std::min(tokens_, tokens); }

  // Continues the sequence with ids and writes the logits, [vocabulary], of the last of them, or
  // [ids, vocabulary] of all. A failure leaves the sequence as it was. Errors: ids outside the
  // vocabulary, a full context, a logit that is not finite, a cancelled call, a failed read.
  Status forward(std::span<const int32_t> ids, LogitsOf which, float* logits,
                 const RunLimits& limits = {});

 private:
  Context(const ForwardParts& parts, int64_t max_tokens, PhaseRunner runner);

  Status check(std::span<const int32_t> ids) const;
  // One pass over the layers, at most max_rows ids; positions follow tokens_ + done. Only the last
  // `wanted` rows leave the last layer, as the first of the residual.
  Status pass(std::span<const int32_t> ids, int64_t first_position, int64_t wanted,
              const RunLimits& limits);
  // Logits of the first rows that left the last layer.
  Status head(int64_t rows, float* logits);

  // The rows that come into a layer, and how many of them, the last ones, leave it: all but in the
  // last layer, where the others are done when their keys and values are in the cache.
  struct PassRows {
    int64_t rows, wanted;
    int64_t first() const { return rows - wanted; }
  };
  // attention.cc: adds a layer's attention to the residual of the wanted rows, which become the
  // first rows.
  Status attend(const Layer& layer, size_t index, PassRows pass);
  Status attend_gqa(const GqaAttention& attention, size_t index, PassRows pass);
  Status attend_mla(const MlaAttention& attention, size_t index, PassRows pass);
  // The groups of products of each head (Workspace::head_row).
  void number_heads(int64_t rows);
  Status run_heads(const HeadLinear& product, const colibri_tensor& input,
                   const colibri_tensor& output);

  // ffn.cc: adds a layer's ffn to the residual.
  Status feed_forward(const Layer& layer, int64_t rows, uint64_t step);
  // Also computes the shared expert's weights.
  Status route(const RoutedFfn& routed, int64_t rows, uint64_t step);
  // The next experts that can be computed; those that are missing are loaded first.
  Result<std::span<const experts::Visit::Lease>> next_wave();
  // The rows of `groups` consecutive groups through an ffn; group i has the bundle of wave[i].
  struct Groups {
    int64_t count = 0;
    const int64_t* begin = nullptr;      // [count + 1]
    const int32_t* row_index = nullptr;  // into the normed rows
  };
  Status run_ffn(const Ffn& ffn, const Groups& groups, std::span<const experts::Visit::Lease> wave,
                 int64_t rows, const colibri_tensor& output);
  // Adds rows of `branch` to the residual, times `weight` ([rows], or null).
  Status add(const Layer& layer, int64_t rows, const float* weight);

  const ForwardParts parts_;
  const int64_t max_tokens_;
  PhaseRunner runner_;
  Workspace work_;
  KvCache cache_;
  Routing routing_;
  std::unique_ptr<experts::Visit> visit_;         // null = no layer has experts
  std::vector<colibri_tensor> weights_, biases_;  // of the groups of one product
  int64_t tokens_ = 0;
};

}  // namespace colibri::engine
