// SPDX-License-Identifier: Apache-2.0
// A loaded model with one sequence, to be timed with a prompt and some tokens behind it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/context.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/model.h"

namespace colibri::bench {

// Made-up ids: the same for a seed, which is any number.
std::vector<int32_t> made_up_ids(uint64_t seed, int64_t vocabulary, uint64_t count);

// Used by one thread.
class Subject {
 public:
  // With room for `tokens` tokens. Errors: what Plan::make and Model::load refuse.
  static Result<std::unique_ptr<Subject>> load(const config::Pipeline& pipeline, uint32_t tokens,
                                               const volatile int* cancel);

  const engine::Plan& plan() const { return model_->plan(); }

  // Starts the sequence anew with `tokens` ids, `chunk` in a pass. Seconds until the logits.
  Result<double> prefill(uint32_t tokens, uint32_t chunk, unsigned threads);
  // Goes on behind the first `before` ids with `tokens` more, one in a pass. Seconds of these.
  Result<double> decode(uint32_t before, uint32_t tokens, unsigned threads);

  // Thread seconds in each operator, by its name, of a prompt and what is behind it; only operators
  // that this plugin computes wherever the model has them.
  Result<std::map<std::string, double>> operator_seconds(const std::string& plugin_id,
                                                         uint32_t prompt, uint32_t generate);

 private:
  Subject(std::unique_ptr<engine::Model> model, std::unique_ptr<engine::Context> context,
          std::vector<int32_t> ids, const volatile int* cancel);
  Status forward(uint32_t tokens, unsigned threads);

  const std::unique_ptr<engine::Model> model_;
  const std::unique_ptr<engine::Context> context_;
  const std::vector<int32_t> ids_;
  std::vector<float> logits_;
  engine::RunLimits limits_;
};

}  // namespace colibri::bench
