// SPDX-License-Identifier: Apache-2.0
// Measuring a model: prompts of some lengths, each followed by some tokens, again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/bench/breakdown.h"
#include "runtime/bench/fixed_loop.h"
#include "runtime/bench/limits.h"
#include "runtime/bench/requests.h"
#include "runtime/bench/summary.h"
#include "runtime/bench/trace.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/model.h"

namespace colibri::bench {

struct Settings {
  std::vector<uint32_t> prompt_tokens = {512};
  std::vector<uint32_t> generate_tokens = {128};  // behind the prompt, each in a pass of its own
  uint32_t requests = 1;  // made at the same moment, each with ids of its own
  uint32_t repeats = 5;
  uint32_t warmup = 1;  // rounds over all tests that do not count
  // What the tokens are, chosen beforehand: made-up weights would soon repeat themselves, and two
  // programs can be compared only on the same tokens. Empty = made from the pipeline's seed.
  std::vector<int32_t> ids;

  std::string route_trace;  // file for what the routers choose in all runs; empty = not recorded
  // Every token at the position behind the prompt, and a fixed loop after each: a longer sequence is
  // more work, and would look like an unsteady one.
  bool steady = false;
  bool breakdown = false;  // record each test once more: where its time goes
  bool trace = false;      // and keep all of that

  uint32_t longest() const;  // tokens of a request of the longest test
  uint64_t most() const { return uint64_t{longest()} * requests; }  // of all its requests
};

// What was asked of the store, and of the tier on a device before it.
struct ExpertCounters {
  experts::Counters store, tier;
};

// One prompt length with one number of generated tokens.
struct Test {
  uint32_t prompt_tokens = 0, generate_tokens = 0;
  std::vector<double> prefill_seconds;      // by repeat: until the logits of the prompt
  std::vector<double> first_token_seconds;  // and until a token was chosen
  std::vector<double> decode_seconds;       // by repeat: all tokens behind the prompt
  std::vector<double> token_seconds, token_cpu_seconds;  // each of them, of all repeats
  std::vector<double> loop_seconds, loop_cpu_seconds;    // the fixed loop after each; empty = none
  ExpertCounters prefill_experts, decode_experts;        // of all repeats
  // Of several requests: by repeat. Then all of the above is empty.
  std::vector<RequestTimes> requests;
  // What the sampling chain chose behind the prompt and behind each token: one more than those.
  std::vector<int32_t> chosen;

  // Of one more run, whose clock readings cost time that the others did not take; nullopt = not
  // asked for.
  std::optional<Breakdown> prefill, decode;
};

struct Report {
  Settings settings;  // with its ids made
  std::unique_ptr<engine::Model> model;
  double load_seconds = 0;   // from the pipeline to a context that can take a prompt
  uint64_t peak_memory = 0;  // bytes resident, at most, in loading and in the first round
  Limits limits;
  std::vector<Test> tests;
  std::optional<Trace> trace;
};

// Used by one thread.
class Bench {
 public:
  // Loads the pipeline's model. Errors: what Plan::make and Model::load refuse, too few ids or one
  // outside of the vocabulary, a context that is too small.
  static Result<std::unique_ptr<Bench>> open(config::Pipeline pipeline, const Settings& settings);

  // Measures: tests take turns, so that what else the machine does falls on all alike, and its
  // limits are measured between the rounds. Then each test is recorded if that was asked for.
  // Error: COLIBRI_CANCELLED if *cancel becomes non-zero.
  Status run(const volatile int* cancel);
  const Report& report() const { return report_; }

 private:
  Bench(Report report, std::unique_ptr<engine::Context> context, std::unique_ptr<Requests> requests,
        engine::SamplerChain sampler, std::optional<FixedLoop> loop);

  Status measure_rounds();
  Status record_runs();
  ExpertCounters expert_counters() const;
  // One run of a test; nothing of it is kept unless it counts.
  Status measure(Test& test, bool counts);
  Status measure_requests(Test& test, bool counts);
  // One run of a test that is recorded.
  Status record(Test& test);
  Status forward(std::span<const int32_t> ids);
  // A sequence of the first ids.
  Status prefill(uint32_t tokens);
  void run_loop(Test& test, bool counts);

  Report report_;
  const std::unique_ptr<engine::Context> context_;  // null = several requests
  std::unique_ptr<Requests> requests_;
  engine::SamplerChain sampler_;
  std::optional<FixedLoop> loop_;
  std::vector<float> logits_;
  engine::RunLimits limits_;
};

}  // namespace colibri::bench
