// SPDX-License-Identifier: Apache-2.0
// Several requests at once: prompts and tokens of all of them in the same passes over the layers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/batch.h"
#include "runtime/engine/context.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/model.h"
#include "runtime/engine/recorder.h"
#include "runtime/engine/sampling.h"

namespace colibri::bench {

// Requests that were all made at the same moment.
struct RequestTimes {
  double seconds = 0;                       // until the last of them was done
  uint64_t passes = 0;                      // over the layers
  std::vector<double> first_token_seconds;  // of each, until its first token was chosen
  std::vector<double> request_seconds;      // until its last token was
  std::vector<double> token_seconds;        // between two of its tokens, of all
};

// Used by one thread.
class Requests {
 public:
  struct Lengths {  // of a request, in tokens
    uint32_t prompt = 0, generate = 0;
    size_t all() const { return size_t{prompt} + generate; }
  };

  static Result<std::unique_ptr<Requests>> create(const engine::Model& model, uint32_t count);

  size_t count() const { return requests_.size(); }
  engine::Batch& batch() const { return *batch_; }

  // Takes the ids of one request after another, each a prompt and what goes on behind it instead of
  // the tokens that are chosen.
  void begin(std::span<const int32_t> ids, Lengths lengths);
  // One pass: a token of every request whose prompt is done, and as much of the prompts as fits
  // beside them, the first request's first. False = all requests are done.
  Result<bool> pass(const engine::RunLimits& limits);
  // All passes.
  Result<RequestTimes> run(const engine::RunLimits& limits);

  // What the sampling chain chose in request i: behind the prompt and behind each token.
  std::span<const int32_t> chosen(size_t i) const { return requests_[i].chosen; }

 private:
  struct Request {
    std::unique_ptr<engine::Context> context;
    engine::SamplerChain sampler;
    std::span<const int32_t> ids;
    std::vector<int32_t> chosen;
  };
  Requests(const engine::Model& model, std::shared_ptr<engine::Batch> batch)
      : model_(model), batch_(std::move(batch)) {}
  void next_chunks();

  const engine::Model& model_;
  const std::shared_ptr<engine::Batch> batch_;
  std::vector<Request> requests_;
  Lengths lengths_;
  std::vector<engine::Chunk> chunks_;
  std::vector<Request*> waiting_;  // for the logits of the pass, in their order
  std::vector<float> logits_;      // [requests, vocabulary]
};

}  // namespace colibri::bench
