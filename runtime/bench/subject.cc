// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/subject.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/bench/breakdown.h"
#include "runtime/engine/random.h"
#include "runtime/plugin/operator_text.h"

namespace colibri::bench {
namespace {

using engine::Recorder;
using Clock = Recorder::Clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::vector<int32_t> made_up_ids(uint64_t seed, int64_t vocabulary, uint64_t count) {
  engine::Random random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) {
    id = static_cast<int32_t>(random.next() * static_cast<double>(vocabulary));
  }
  return ids;
}

Result<std::unique_ptr<Subject>> Subject::load(const config::Pipeline& pipeline, uint32_t tokens,
                                               const volatile int* cancel) {
  config::Pipeline sized = pipeline;
  sized.context.max_tokens = tokens;
  COLIBRI_ASSIGN(auto plan, engine::Plan::make(std::move(sized)));
  COLIBRI_ASSIGN(auto model, engine::Model::load(std::move(plan)));
  COLIBRI_ASSIGN(auto context, model->create_context(tokens));
  auto ids = made_up_ids(pipeline.generate.seed, model->spec().vocabulary, tokens);
  return std::unique_ptr<Subject>(
      new Subject(std::move(model), std::move(context), std::move(ids), cancel));
}

Subject::Subject(std::unique_ptr<engine::Model> model, std::unique_ptr<engine::Context> context,
                 std::vector<int32_t> ids, const volatile int* cancel)
    : model_(std::move(model)),
      context_(std::move(context)),
      ids_(std::move(ids)),
      logits_(static_cast<size_t>(context_->vocabulary())) {
  limits_.cancel = cancel;
}

Status Subject::forward(uint32_t tokens, unsigned threads) {
  limits_.threads = threads;
  const auto from = static_cast<size_t>(context_->tokens());
  return context_->forward({&ids_[from], tokens}, engine::LogitsOf::kLast, logits_.data(), limits_);
}

Result<double> Subject::prefill(uint32_t tokens, uint32_t chunk, unsigned threads) {
  context_->reset();
  const auto start = Clock::now();
  for (uint32_t done = 0; done < tokens; done += chunk) {
    COLIBRI_TRY(forward(std::min(chunk, tokens - done), threads));
  }
  return seconds_since(start);
}

Result<double> Subject::decode(uint32_t before, uint32_t tokens, unsigned threads) {
  context_->truncate(before);
  const auto start = Clock::now();
  for (uint32_t i = 0; i < tokens; ++i) COLIBRI_TRY(forward(1, threads));
  return seconds_since(start);
}

Result<std::map<std::string, double>> Subject::operator_seconds(const std::string& plugin_id,
                                                                uint32_t prompt,
                                                                uint32_t generate) {
  Recorder recorder(context_->batch().threads());
  context_->batch().record_to(&recorder);
  const auto begin = Clock::now();
  Status status = prefill(prompt, prompt, 0).status();
  if (status.ok()) status = decode(prompt, generate, 0).status();
  context_->batch().record_to(nullptr);
  COLIBRI_TRY(std::move(status));
  Breakdown breakdown;
  breakdown.add(recorder, begin, Clock::now());

  std::map<std::string, double> seconds;
  for (const Breakdown::Part& part : breakdown.operators) {
    seconds[plugin::operator_name(part.what->asked().get().op)] += part.seconds;
  }
  for (const auto& made : plan().operators->all()) {
    if (made->choice().plugin->id() != plugin_id) {
      seconds.erase(plugin::operator_name(made->asked().get().op));
    }
  }
  return seconds;
}

}  // namespace colibri::bench
