// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/requests.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace colibri::bench {
namespace {

using Clock = engine::Recorder::Clock;

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Result<std::unique_ptr<Requests>> Requests::create(const engine::Model& model, uint32_t count) {
  COLIBRI_ASSIGN(std::shared_ptr<engine::Batch> batch, model.create_batch());
  std::unique_ptr<Requests> requests(new Requests(model, std::move(batch)));
  for (uint32_t i = 0; i < count; ++i) {
    COLIBRI_ASSIGN(auto context, model.create_context(model.plan().max_tokens, requests->batch_));
    COLIBRI_ASSIGN(engine::SamplerChain sampler, model.create_sampler());
    requests->requests_.push_back({std::move(context), std::move(sampler), {}, {}});
  }
  requests->logits_.resize(count * static_cast<size_t>(model.spec().vocabulary));
  return requests;
}

void Requests::begin(std::span<const int32_t> ids, Lengths lengths) {
  lengths_ = lengths;
  for (size_t i = 0; i < requests_.size(); ++i) {
    Request& request = requests_[i];
    request.ids = ids.subspan(i * lengths.all(), lengths.all());
    request.context->reset();
    request.sampler.reset(model_.plan().pipeline.generate.seed);
    for (const int32_t id : request.ids.first(lengths.prompt)) request.sampler.accept(id);
    request.chosen.clear();
    request.chosen.reserve(lengths.generate + size_t{1});
  }
}

void Requests::next_chunks() {
  chunks_.clear();
  waiting_.clear();
  const auto add = [&](Request& request, size_t n, engine::LogitsOf which) {
    const auto at = static_cast<size_t>(request.context->tokens());
    chunks_.push_back({request.context.get(), request.ids.subspan(at, n), which});
    if (which != engine::LogitsOf::kNone) waiting_.push_back(&request);
  };
  for (Request& request : requests_) {
    if (!request.chosen.empty() && request.chosen.size() <= lengths_.generate) {
      add(request, 1, engine::LogitsOf::kLast);
    }
  }
  const auto rows = static_cast<size_t>(batch_->max_rows());
  size_t room = rows - std::min(rows, chunks_.size());
  for (Request& request : requests_) {
    const auto done = static_cast<size_t>(request.context->tokens());
    const size_t left = lengths_.prompt - std::min<size_t>(lengths_.prompt, done);
    const size_t n = std::min(left, room);
    if (n == 0) continue;
    add(request, n, n == left ? engine::LogitsOf::kLast : engine::LogitsOf::kNone);
    room -= n;
  }
}

Result<bool> Requests::pass(const engine::RunLimits& limits) {
  next_chunks();
  if (chunks_.empty()) return false;
  COLIBRI_TRY(batch_->forward(chunks_, logits_.data(), limits));
  float* logits = logits_.data();
  for (Request* request : waiting_) {
    COLIBRI_ASSIGN(const int32_t id, request->sampler.sample(logits));
    request->chosen.push_back(id);
    if (request->chosen.size() <= lengths_.generate) {
      request->sampler.accept(request->ids[static_cast<size_t>(request->context->tokens())]);
    }
    logits += model_.spec().vocabulary;
  }
  return true;
}

Result<RequestTimes> Requests::run(const engine::RunLimits& limits) {
  RequestTimes times;
  const auto start = Clock::now();
  std::vector<Clock::time_point> last(requests_.size(), start);  // token of each
  for (;;) {
    COLIBRI_ASSIGN(const bool more, pass(limits));
    if (!more) return times;
    const auto now = Clock::now();
    times.seconds = seconds(start, now);
    ++times.passes;
    for (const Request* request : waiting_) {
      auto& before = last[static_cast<size_t>(request - requests_.data())];
      const size_t known = request->chosen.size();
      (known == 1 ? times.first_token_seconds : times.token_seconds)
          .push_back(seconds(before, now));
      if (known > lengths_.generate) times.request_seconds.push_back(times.seconds);
      before = now;
    }
  }
}

}  // namespace colibri::bench
