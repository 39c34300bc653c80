// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/bench.h"

#include <time.h>

#include <algorithm>
#include <span>
#include <utility>

#include "runtime/bench/subject.h"
#include "runtime/machine/process_memory.h"

namespace colibri::bench {
namespace {

using engine::Recorder;
using Clock = Recorder::Clock;

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Of all threads of the process.
double cpu_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Status check_ids(const std::vector<int32_t>& ids, int64_t vocabulary, uint64_t needed) {
  if (ids.size() < needed) {
    return invalid_argument("--ids: " + std::to_string(ids.size()) +
                            " ids, and the longest test takes " + std::to_string(needed));
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocabulary) continue;
    return invalid_argument("--ids: id " + std::to_string(ids[i]) + " at index " +
                            std::to_string(i) + " is outside the vocabulary of " +
                            std::to_string(vocabulary));
  }
  return {};
}

// What was counted from one moment to another.
void add_between(const experts::Counters& from, const experts::Counters& to,
                 experts::Counters& sum) {
  sum.hits += to.hits - from.hits;
  sum.misses += to.misses - from.misses;
  sum.ahead += to.ahead - from.ahead;
  sum.loads += to.loads - from.loads;
  sum.ahead_used += to.ahead_used - from.ahead_used;
}
void add_between(const ExpertCounters& from, const ExpertCounters& to, ExpertCounters& sum) {
  add_between(from.store, to.store, sum.store);
  add_between(from.tier, to.tier, sum.tier);
}

}  // namespace

uint32_t Settings::longest() const {
  return *std::max_element(prompt_tokens.begin(), prompt_tokens.end()) +
         *std::max_element(generate_tokens.begin(), generate_tokens.end());
}

Result<std::unique_ptr<Bench>> Bench::open(config::Pipeline pipeline, const Settings& asked) {
  Report report;
  Settings& settings = report.settings;
  settings = asked;
  const auto start = Clock::now();
  COLIBRI_ASSIGN(auto plan, engine::Plan::make(std::move(pipeline), settings.requests));
  if (settings.longest() > plan->max_tokens) {
    return invalid_argument("context.max_tokens is " + std::to_string(plan->max_tokens) +
                            ", and the longest test takes " + std::to_string(settings.longest()));
  }
  const int64_t vocabulary = plan->spec.vocabulary;
  if (settings.ids.empty()) {
    settings.ids = made_up_ids(plan->pipeline.generate.seed, vocabulary, settings.most());
  }
  COLIBRI_TRY(check_ids(settings.ids, vocabulary, settings.most()));
  COLIBRI_ASSIGN(report.model, engine::Model::load(std::move(plan)));
  if (!settings.route_trace.empty()) {
    COLIBRI_TRY(report.model->record_routes(settings.route_trace));
  }
  const engine::Model& model = *report.model;
  std::unique_ptr<engine::Context> context;
  std::unique_ptr<Requests> requests;
  if (settings.requests == 1) {
    COLIBRI_ASSIGN(context, model.create_context(model.plan().max_tokens));
  } else {
    COLIBRI_ASSIGN(requests, Requests::create(model, settings.requests));
  }
  COLIBRI_ASSIGN(engine::SamplerChain sampler, model.create_sampler());
  std::optional<FixedLoop> loop;
  if (settings.steady) {
    COLIBRI_ASSIGN(loop, FixedLoop::create(model.plan().bytes_per_token()));
  }
  report.load_seconds = seconds(start, Clock::now());
  for (const uint32_t prompt : settings.prompt_tokens) {
    for (const uint32_t generate : settings.generate_tokens) {
      report.tests.emplace_back();
      report.tests.back().prompt_tokens = prompt;
      report.tests.back().generate_tokens = generate;
    }
  }
  return std::unique_ptr<Bench>(new Bench(std::move(report), std::move(context),
                                          std::move(requests), std::move(sampler),
                                          std::move(loop)));
}

Bench::Bench(Report report, std::unique_ptr<engine::Context> context,
             std::unique_ptr<Requests> requests, engine::SamplerChain sampler,
             std::optional<FixedLoop> loop)
    : report_(std::move(report)),
      context_(std::move(context)),
      requests_(std::move(requests)),
      sampler_(std::move(sampler)),
      loop_(std::move(loop)),
      logits_(static_cast<size_t>(report_.model->spec().vocabulary)) {}

Status Bench::run(const volatile int* cancel) {
  limits_.cancel = cancel;
  COLIBRI_TRY(measure_rounds());
  COLIBRI_TRY(record_runs());
  return report_.model->finish_routes();
}

Status Bench::record_runs() {
  const Settings& settings = report_.settings;
  if (settings.trace) report_.trace.emplace();
  if (!settings.breakdown && !settings.trace) return {};
  for (Test& test : report_.tests) COLIBRI_TRY(record(test));
  return {};
}

Status Bench::measure_rounds() {
  const engine::Plan& plan = report_.model->plan();
  COLIBRI_ASSIGN(const auto pool, ThreadPool::create(plan.threads));
  for (uint32_t round = 0; round < report_.settings.warmup + report_.settings.repeats; ++round) {
    for (Test& test : report_.tests) COLIBRI_TRY(measure(test, round >= report_.settings.warmup));
    // Before the limits are measured, which takes memory of its own.
    if (round == 0) report_.peak_memory = machine::peak_resident_bytes();
    COLIBRI_TRY(report_.limits.measure(*pool, plan.bytes_per_token(), plan.profile));
  }
  return {};
}

ExpertCounters Bench::expert_counters() const {
  ExpertCounters now;
  if (report_.model->store() != nullptr) now.store = report_.model->store()->counters();
  if (report_.model->tier() != nullptr) now.tier = report_.model->tier()->counters();
  return now;
}

Status Bench::forward(std::span<const int32_t> ids) {
  return context_->forward(ids, engine::LogitsOf::kLast, logits_.data(), limits_);
}

Status Bench::prefill(uint32_t tokens) {
  context_->reset();
  return forward({report_.settings.ids.data(), tokens});
}

void Bench::run_loop(Test& test, bool counts) {
  const auto begin = Clock::now();
  const double cpu_begin = cpu_seconds();
  loop_->run(context_->batch().pool(), report_.model->plan().decode_threads);
  if (!counts) return;
  test.loop_cpu_seconds.push_back(cpu_seconds() - cpu_begin);
  test.loop_seconds.push_back(seconds(begin, Clock::now()));
}

Status Bench::measure_requests(Test& test, bool counts) {
  requests_->begin(report_.settings.ids, {test.prompt_tokens, test.generate_tokens});
  COLIBRI_ASSIGN(RequestTimes times, requests_->run(limits_));
  if (counts) test.requests.push_back(std::move(times));
  return {};
}

Status Bench::measure(Test& test, bool counts) {
  if (requests_ != nullptr) return measure_requests(test, counts);
  std::vector<int32_t> chosen;
  std::vector<double> token_seconds, token_cpu_seconds;
  chosen.reserve(test.generate_tokens + size_t{1});
  token_seconds.reserve(test.generate_tokens);
  token_cpu_seconds.reserve(test.generate_tokens);
  sampler_.reset(report_.model->plan().pipeline.generate.seed);
  for (uint32_t i = 0; i < test.prompt_tokens; ++i) sampler_.accept(report_.settings.ids[i]);

  const ExpertCounters at_start = expert_counters();
  const auto start = Clock::now();
  COLIBRI_TRY(prefill(test.prompt_tokens));
  const auto prefilled = Clock::now();
  const ExpertCounters at_decode = expert_counters();
  COLIBRI_ASSIGN(int32_t id, sampler_.sample(logits_.data()));
  chosen.push_back(id);
  const auto first = Clock::now();
  double decode_seconds = 0;
  for (uint32_t i = 0; i < test.generate_tokens; ++i) {
    const auto begin = Clock::now();
    const double cpu_begin = cpu_seconds();
    const int32_t next = report_.settings.ids[test.prompt_tokens + i];
    sampler_.accept(next);
    COLIBRI_TRY(forward({&next, 1}));
    COLIBRI_ASSIGN(id, sampler_.sample(logits_.data()));
    chosen.push_back(id);
    token_cpu_seconds.push_back(cpu_seconds() - cpu_begin);
    token_seconds.push_back(seconds(begin, Clock::now()));
    decode_seconds += token_seconds.back();
    if (!loop_) continue;
    context_->truncate(test.prompt_tokens);
    run_loop(test, counts);
  }
  const ExpertCounters at_end = expert_counters();
  if (!counts) return {};
  test.prefill_seconds.push_back(seconds(start, prefilled));
  test.first_token_seconds.push_back(seconds(start, first));
  test.decode_seconds.push_back(decode_seconds);
  const auto append = [](std::vector<double>& to, const std::vector<double>& values) {
    to.insert(to.end(), values.begin(), values.end());
  };
  append(test.token_seconds, token_seconds);
  append(test.token_cpu_seconds, token_cpu_seconds);
  test.chosen = std::move(chosen);
  add_between(at_start, at_decode, test.prefill_experts);
  add_between(at_decode, at_end, test.decode_experts);
  return {};
}

Status Bench::record(Test& test) {
  Recorder recorder(context_->batch().threads());
  const auto keep = [&](const std::string& name, Clock::time_point begin, Breakdown& part) {
    const auto end = Clock::now();
    part.add(recorder, begin, end);
    if (report_.trace) report_.trace->add(name, recorder, begin, end);
    recorder.clear();
  };
  context_->batch().record_to(&recorder);
  auto begin = Clock::now();
  Status status = prefill(test.prompt_tokens);
  keep("prompt of " + std::to_string(test.prompt_tokens), begin, test.prefill.emplace());
  test.decode.emplace();
  for (uint32_t i = 0; status.ok() && i < test.generate_tokens; ++i) {
    const std::string name = "token " + std::to_string(context_->tokens());
    begin = Clock::now();
    status = forward({&report_.settings.ids[test.prompt_tokens + i], 1});
    keep(name, begin, *test.decode);
    if (report_.settings.steady) context_->truncate(test.prompt_tokens);
  }
  context_->batch().record_to(nullptr);
  return status;
}

}  // namespace colibri::bench
