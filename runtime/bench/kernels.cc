// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/kernels.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "runtime/bench/breakdown.h"
#include "runtime/bench/trial.h"
#include "runtime/engine/limits.h"

namespace colibri::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastSeconds = 0.02;  // of a measurement: several calls if one is short

bool of_experts(const engine::Operator& op) {
  return op.uses().front().starts_with("experts.");
}

Result<double> seconds_of_call(Trial& trial, engine::PhaseRunner& runner, const Shape& shape) {
  const auto start = Clock::now();
  double seconds = 0;
  int calls = 0;
  do {
    COLIBRI_TRY(trial.run(runner, shape));
    ++calls;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } while (seconds < kLeastSeconds);
  return seconds / calls;
}

class Comparison {
 public:
  Comparison(const engine::Plan& plan, uint32_t repeats, const volatile int* cancel,
             KernelReport& report)
      : plan_(plan), repeats_(repeats), report_(report) {
    limits_.cancel = cancel;
  }

  Status measure(const engine::Operator& op) {
    const auto [decode, prefill] = shapes(op);
    std::vector<KernelTime> names;
    std::vector<std::unique_ptr<Trial>> trials;  // parallel; null = refused
    COLIBRI_TRY(create(op, prefill, names, trials));
    for (const Shape& shape : {decode, prefill}) {
      KernelCase made;
      made.uses = uses_text(op);
      made.description = op.description();
      made.shape = shape;
      made.times = names;
      COLIBRI_TRY(time(shape, trials, made));
      for (const auto& trial : trials) {
        if (trial == nullptr) continue;
        made.work = trial->work(shape);
        break;
      }
      report_.cases.push_back(std::move(made));
    }
    return {};
  }

 private:
  // Of one token, and of a chunk of a prompt.
  std::pair<Shape, Shape> shapes(const engine::Operator& op) const {
    const int64_t rows = plan_.max_rows, top_k = plan_.spec.top_k, experts = plan_.spec.experts;
    const bool product = op.asked().get().op == COLIBRI_OP_GROUPED_MATMUL;
    if (of_experts(op) && product) {
      return {{top_k, 1}, {experts, std::max<int64_t>(rows * top_k / experts, 1)}};
    }
    // Where each head has a row of its own, or a matrix.
    const int64_t heads = std::max<int64_t>(op.asked().get().max_rows / rows, 1);
    if (product) return {{heads, 1}, {heads, rows}};
    return {{1, heads}, {1, heads * rows}};
  }

  Status create(const engine::Operator& op, const Shape& most, std::vector<KernelTime>& names,
                std::vector<std::unique_ptr<Trial>>& trials) const {
    for (const auto& plugin : plan_.registry->offers("colibri.kernels/0")) {
      KernelTime name;
      name.plugin = plugin->id();
      auto trial = create_trial(plan_, plugin->id(), op.asked(), most);
      if (!trial.ok() && trial.status().code() != COLIBRI_UNSUPPORTED) return trial.status();
      if (!trial.ok()) name.refusal = trial.status().text();
      trials.push_back(trial.ok() ? std::move(*trial) : nullptr);
      names.push_back(std::move(name));
    }
    return {};
  }

  Status time(const Shape& shape, std::vector<std::unique_ptr<Trial>>& trials,
              KernelCase& made) const {
    uint64_t scratch = 0;
    for (const auto& trial : trials) {
      if (trial != nullptr) scratch = std::max(scratch, trial->scratch_bytes());
    }
    COLIBRI_ASSIGN(engine::PhaseRunner runner, engine::PhaseRunner::create(plan_.threads, scratch));
    for (uint32_t round = 0; round < repeats_; ++round) {
      for (size_t i = 0; i < trials.size(); ++i) {
        COLIBRI_TRY(limits_.check());
        if (trials[i] == nullptr) continue;
        COLIBRI_ASSIGN(const double seconds, seconds_of_call(*trials[i], runner, shape));
        made.times[i].seconds.push_back(seconds);
      }
    }
    return {};
  }

  const engine::Plan& plan_;
  const uint32_t repeats_;
  engine::RunLimits limits_;
  KernelReport& report_;
};

}  // namespace

Result<KernelReport> compare_kernels(const engine::Plan& plan, uint32_t repeats,
                                     const volatile int* cancel) {
  if (plan.device != nullptr) {
    return unsupported("compares the plugins of the CPU, and the model is placed on " +
                       plan.device->name() + "; set placement: cpu");
  }
  KernelReport report;
  COLIBRI_ASSIGN(const auto pool, ThreadPool::create(plan.threads));
  Comparison comparison(plan, repeats, cancel, report);
  for (const auto& op : plan.operators->all()) {
    COLIBRI_TRY(comparison.measure(*op));
    if (report.cases.back().work.bytes == 0) continue;  // compared with no limit
    COLIBRI_TRY(report.limits.measure(*pool, kBeyondCaches, plan.profile));
  }
  return report;
}

}  // namespace colibri::bench
