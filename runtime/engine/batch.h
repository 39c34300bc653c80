// SPDX-License-Identifier: Apache-2.0
// Batch: the forward pass. Rows of one or several sequences go through the layers together, so that
// every weight is read once for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/device_experts.h"
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

class Context;

// What the contexts and batches of a loaded model share.
struct ForwardParts {
  const model::ModelSpec* spec = nullptr;
  const Layers* layers = nullptr;
  const RopeTable* rope = nullptr;
  const plugin::Device* device = nullptr;            // that the model lies on; null = none
  const DeviceExperts* device_experts = nullptr;     // null = none lie there
  experts::Store* store = nullptr;                   // null = none lie in the host's memory
  experts::RouteTraceWriter* route_trace = nullptr;  // null = routes are not recorded
  uint32_t kv = COLIBRI_CODEC_F16;
  int64_t max_rows = 1;         // rows of one pass over the layers
  unsigned decode_threads = 1;  // that compute single tokens
  uint64_t scratch_bytes = 0;   // of a worker
  uint64_t device_scratch_bytes = 0;

  PassPlace place() const {
    if (device == nullptr) return PassPlace::kCpu;
    return store == nullptr ? PassPlace::kDevice : PassPlace::kDeviceButExperts;
  }
};

enum class LogitsOf { kNone, kLast, kAll };

// What one sequence brings to a call: a prompt, a piece of one (only its last needs logits), or a
// token that was decoded.
struct Chunk {
  Context* context = nullptr;
  std::span<const int32_t> ids;
  LogitsOf which = LogitsOf::kLast;

  int64_t rows() const { return static_cast<int64_t>(ids.size()); }
  int64_t logits_rows() const {
    return which == LogitsOf::kAll ? rows() : which == LogitsOf::kLast ? 1 : 0;
  }
};

// Threads or a device's queue, and all memory that a pass needs besides the sequences. Used by one thread at a time;
// batches of one model are independent. Nothing is allocated after create(), but for messages of
// failures.
class Batch {
 public:
  static Result<std::unique_ptr<Batch>> create(const ForwardParts& parts, unsigned threads);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Tokens that go through the layers in one pass; a call with more takes several.
  int64_t max_rows() const { return parts_.max_rows; }
  unsigned threads() const { return pool().threads(); }
  ThreadPool& pool() const { return runner_.pool(); }  // for other work between two calls
  // What the workers do from now on goes to a recorder of at least threads() workers; null ends it.
  void record_to(Recorder* recorder) { runner_.record_to(recorder); }

  // Continues the sequences of the chunks, each of another context of this model, and writes the
  // logits that they ask for, one row of [vocabulary] after another in their order. A sequence's
  // logits are the same bytes alone and in any company. A failure leaves all sequences as they
  // were. Errors: ids outside the vocabulary, a full context, a context that stands twice, a logit
  // that is not finite, a cancelled call, a failed read.
  Status forward(std::span<const Chunk> chunks, float* logits, const RunLimits& limits = {});

 private:
  Batch(const ForwardParts& parts, PhaseRunner runner);

  // The rows of a pass that leave a layer: all, or in the last layer those whose logits are wanted;
  // the others are done when their keys and values are in the cache.
  struct Leaving {
    int64_t rows = 0;
    SharedList<const int32_t> index;  // [rows] into the pass's, ascending; null = all of them
    const int32_t* position = nullptr;
    const int32_t* sequence = nullptr;  // into sequences_; null = all are of the only one
  };
  struct Cursor {
    size_t chunk = 0;
    int64_t row = 0;  // of that chunk
  };
  Status compute(std::span<const Chunk> chunks, float* logits, const RunLimits& limits);
  Status check(std::span<const Chunk> chunks) const;
  Status check(const Chunk& chunk) const;
  // Makes a pass of the next rows of the chunks, as many as fit.
  void next_rows(std::span<const Chunk> chunks, Cursor& at);
  Status pass(const RunLimits& limits);
  Status run_layers(const RunLimits& limits);
  // Logits of the first rows that left the last layer.
  Status head(int64_t rows, float* logits);
  // Their product, some rows at a time: the device has no room for the logits of all.
  Status head_on_device(int64_t rows, float* logits);
  Status check_finite(std::span<const Chunk> chunks, const float* logits) const;
  // A list of the host's as kernels find it: as it is, or on a device copied to `there`.
  Result<const int32_t*> given(const int32_t* list, int32_t* there, int64_t n);
  // What kernels wrote to a list is then in its host's part, and what was fetch_later()ed there.
  Status fetch(const SharedList<int32_t>& list, int64_t n);
  // Rows of the device to the same rows of the host's.
  Status fetch_later(const colibri_tensor& from, const colibri_tensor& to);
  // A view of what kernels find at `there`: of its buffer, on a device.
  colibri_tensor at(colibri_tensor view, int32_t* there) const;
  // Row i of the residual becomes row index[i], n rows; the index is ascending.
  Status gather_residual(const int32_t* index, int64_t n);
  // Of the rows that enter a layer.
  const int32_t* sequence() const { return sequences_.size() == 1 ? nullptr : work_.sequence; }

  // attention.cc: adds a layer's attention to the residual of the rows that leave it, which
  // become the first rows.
  Status attend(const Layer& layer, size_t index, const Leaving& leaving);
  Status attend_gqa(const GqaAttention& attention, const Leaving& leaving);
  Status attend_mla(const MlaAttention& attention, const Leaving& leaving);
  // The groups of products of each head (Workspace::head_row).
  Status number_heads(int64_t rows);
  Status run_heads(const HeadLinear& product, const colibri_tensor& input,
                   const colibri_tensor& output);

  // ffn.cc: adds a layer's ffn to the residual.
  Status feed_forward(const Layer& layer, const Layer* next, int64_t rows, uint64_t step);
  // The ffn that every row takes, to `branch`.
  Status run_always(const Ffn& ffn, int64_t rows);
  // What the router chooses of normed rows.
  Status choose(const RoutedFfn& routed, const colibri_tensor& normed,
                const colibri_tensor& prepared, const Workspace::Choice& to);
  // In the host's list, and checked.
  Status fetch_chosen(const RoutedFfn& routed, const Workspace::Choice& choice, int64_t rows);
  // From here on the missing ones of the experts that the router chose are read.
  Status choose_experts(const RoutedFfn& routed, int64_t rows, uint64_t step);
  // Tells the store what the next layer's router chooses of the residual as it is now.
  Status guess_experts(const Layer& next, int64_t rows);
  // Adds the chosen experts to the residual. Also computes the shared expert's weights.
  Status run_experts(const RoutedFfn& routed, int64_t rows);
  // The next experts that can be computed; those that are missing are loaded first.
  Result<std::span<const experts::Visit::Lease>> next_wave();
  // The chosen experts of one wave through their ffn. there: what all of them lie in on the device
  // of all else; null = in the store.
  Status run_wave(const Ffn& ffn, std::span<const experts::Visit::Lease> wave, std::byte* there,
                  int64_t rows);
  // Those of the chosen experts that are there.
  Status run_on_device(const RoutedFfn& routed, int64_t rows);
  // Copies those of a wave to the device that are to come there.
  Status copy_coming(std::span<const experts::Visit::Lease> wave, uint64_t bytes);
  // The product rows of the host from this one on, to the device's.
  Status copy_rows_there(int64_t first, int64_t rows);
  // The rows of `groups` consecutive groups through an ffn; group i has the bundle of wave[i].
  struct Groups {
    int64_t count = 0;
    const int64_t* begin = nullptr;      // [count + 1]
    const int32_t* row_index = nullptr;  // into the normed rows
  };
  // Its rows: of one place, the inner ones `inner_offset` bytes into `inner`.
  struct FfnRows {
    colibri_tensor input, output;
    std::byte* inner = nullptr;
    uint64_t inner_offset = 0;
    std::byte* bundles = nullptr;  // the buffer of all of them; null = each is one
  };
  Status run_ffn(const Ffn& ffn, const Groups& groups, std::span<const experts::Visit::Lease> wave,
                 const FfnRows& rows);
  // A weight where it lies: in dense memory, or in an expert's bundle in `bundles`.
  static colibri_tensor view(const Placed& placed, const std::byte* bundle, std::byte* bundles);
  // Adds rows of `branch` to the residual, times `weight` ([rows], or null).
  Status add(const Layer& layer, int64_t rows, const float* weight);

  const ForwardParts parts_;
  PhaseRunner runner_;
  Workspace work_;
  Routing routing_;
  std::unique_ptr<experts::Visit> visit_;         // null = there is no store
  std::vector<int32_t> guessed_;                  // experts of the next layer, the likeliest first
  std::unique_ptr<experts::Stay> stay_;           // null = none lie on a device
  std::vector<experts::Visit::Lease> on_device_;  // the wave of a layer's experts that lie there
  std::vector<colibri_tensor> weights_, biases_;  // of the groups of one product
  // Of the pass: its rows, how many logits are wanted, its contexts, and their caches of the layer
  // that is being computed.
  int64_t rows_ = 0, wanted_ = 0;
  std::vector<const Context*> sequences_;
  std::vector<colibri_tensor> k_cache_, v_cache_;  // by sequence
};

}  // namespace colibri::engine
