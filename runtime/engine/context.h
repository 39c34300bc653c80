// SPDX-License-Identifier: Apache-2.0
// Context: one sequence and its key-value cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/base/status.h"
#include "runtime/engine/batch.h"
#include "runtime/engine/kv_cache.h"

namespace colibri::engine {

// Used by one thread at a time; contexts of one model are independent, but for those that share a
// batch.
class Context {
 public:
  // batch: of the same model; forward() computes with it.
  static Result<std::unique_ptr<Context>> create(const ForwardParts& parts, int64_t max_tokens,
                                                 std::shared_ptr<Batch> batch);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int64_t tokens() const { return tokens_; }  // in the sequence
  int64_t max_tokens() const { return max_tokens_; }
  int64_t vocabulary() const { return parts_.spec->vocabulary; }
  Batch& batch() const { return *batch_; }
  void reset() { tokens_ = 0; }
  // Forgets the tokens from position `tokens` on, which is at most tokens().
  void truncate(int64_t tokens) { tokens_ = std::min(tokens_, tokens); }

  // Continues the sequence with ids and writes no logits, those of the last of them, [vocabulary],
  // or of all, [ids, vocabulary]: Batch::forward() for this sequence alone.
  Status forward(std::span<const int32_t> ids, LogitsOf which, float* logits,
                 const RunLimits& limits = {}) {
    const Chunk chunk = {this, ids, which};
    return batch_->forward({&chunk, 1}, logits, limits);
  }

 private:
  friend class Batch;
  Context(const ForwardParts& parts, int64_t max_tokens, std::shared_ptr<Batch> batch);

  const ForwardParts parts_;
  const int64_t max_tokens_;
  const std::shared_ptr<Batch> batch_;
  KvCache cache_;
  int64_t tokens_ = 0;
};

}  // namespace colibri::engine
