// SPDX-License-Identifier: Apache-2.0
// Operators that write or read a key-value cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/trial.h"
#include "runtime/engine/kv_cache.h"

namespace colibri::bench {

class AttentionTrial : public Trial {
 public:
  // What it attends to or writes to.
  struct Past {
    int64_t tokens = 0;        // of the context, which is full
    uint64_t cycle_bytes = 0;  // of caches that calls go through in turn
  };
  // As create_trial(), with another past; the plan must outlive it.
  static Result<std::unique_ptr<Trial>> create(const engine::Plan& plan,
                                               const std::string& plugin_id,
                                               const engine::OperatorDesc& of, int64_t rows,
                                               const Past& past);

  // With another layer's cache at each call.
  Status run(engine::PhaseRunner& runner, const Shape& shape) override;
  Work work(const Shape& shape) const override;

 private:
  AttentionTrial(plugin::KernelChooser chooser, const engine::Plan& plan,
                 const engine::OperatorDesc& of, int64_t tokens);
  Status take_memory(int64_t rows, uint64_t cycle_bytes);
  Status write(engine::PhaseRunner& runner, int64_t rows, size_t layer);
  Status attend(engine::PhaseRunner& runner, int64_t rows, size_t layer);
  Status attend_latent(engine::PhaseRunner& runner, int64_t rows, size_t layer);
  // Of the last rows of the context.
  const int32_t* position(int64_t rows) const {
    return position_.data() + (position_.size() - static_cast<size_t>(rows));
  }

  const engine::Plan& plan_;
  const uint32_t op_;
  const int64_t tokens_;
  int64_t window_ = 0;
  bool sinks_ = false;
  uint64_t layer_bytes_ = 0;  // of the cache of one layer
  size_t layers_ = 0, next_ = 0;
  std::optional<engine::KvCache> cache_;
  std::vector<int32_t> position_;
  Memory input_, output_;  // rows of all query heads, also of keys and values
  std::vector<float> sink_;
};

}  // namespace colibri::bench
