// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/phase.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace colibri::engine {
namespace {

constexpr size_t kMostCalls = 4;

// True for no calls at all.
bool are_of_device(std::initializer_list<Call> calls) {
  return std::all_of(calls.begin(), calls.end(), [](const Call& call) {
    return call.what == nullptr || call.what->on_device();
  });
}

}  // namespace

Result<PhaseRunner> PhaseRunner::create(unsigned threads, uint64_t scratch_bytes) {
  PhaseRunner runner;
  COLIBRI_ASSIGN(runner.pool_, ThreadPool::create(threads));
  runner.threads_ = threads;
  runner.scratch_bytes_ = scratch_bytes;
  COLIBRI_ASSIGN(runner.scratch_, Memory::allocate(threads * scratch_bytes, "kernel scratch"));
  return runner;
}

Status PhaseRunner::use_device(const plugin::Device& device, uint64_t scratch_bytes) {
  COLIBRI_ASSIGN(device_scratch_,
                 plugin::DeviceMemory::allocate(device, scratch_bytes, "kernel scratch"));
  COLIBRI_ASSIGN(plugin::DeviceQueue queue, plugin::DeviceQueue::create(device));
  queue_.emplace(std::move(queue));
  return {};
}

Status PhaseRunner::run_on_device(std::initializer_list<Call> calls) {
  for (const Call& call : calls) {
    if (call.what == nullptr) continue;
    if (recorder_ != nullptr) recorder_->begin_phase(Recorder::Phase::Kind::kOperators);
    const auto started = recorder_ == nullptr ? Recorder::Time() : Recorder::Clock::now();
    Status status = queue_->run(call.what->state(), call.arguments,
                                call.what->scratch_bytes() == 0 ? nullptr : device_scratch_.data());
    if (recorder_ != nullptr) {  // whose times are those of the work, not of putting it in
      if (status.ok()) status = queue_->wait();
      recorder_->add(0, call.what, started);
      recorder_->end_phase();
    }
    if (!status.ok()) return status.at(call.what->description());
  }
  return {};
}

Status PhaseRunner::run(std::initializer_list<Call> calls, unsigned threads) {
  if (queue_ && are_of_device(calls)) return run_on_device(calls);
  struct Segment {
    const Call* call;
    int64_t first;  // of the call's tasks, in the numbering of the phase
  };
  std::array<Segment, kMostCalls + 1> parts;
  size_t count = 0;
  int64_t tasks = 0;
  for (const Call& call : calls) {
    if (call.what == nullptr) continue;
    if (count == kMostCalls) return internal_error("a phase of too many operators");
    parts[count++] = {&call, tasks};
    tasks += call.what->table()->op_tasks(call.what->state(), call.arguments);
  }
  parts[count] = {nullptr, tasks};

  if (recorder_ != nullptr) recorder_->begin_phase(Recorder::Phase::Kind::kOperators);
  std::atomic<const Call*> failed = nullptr;
  const colibri_status code =
      pool_->run(tasks, threads, [&](unsigned worker, int64_t begin, int64_t end) {
        std::byte* scratch = scratch_.data() + worker * scratch_bytes_;
        for (size_t i = 0; i < count; ++i) {
          const int64_t from = std::max(begin, parts[i].first);
          const int64_t to = std::min(end, parts[i + 1].first);
          if (from >= to) continue;
          const Operator& op = *parts[i].call->what;
          const auto started = recorder_ == nullptr ? Recorder::Time() : Recorder::Clock::now();
          const colibri_status status =
              op.table()->op_run(op.state(), parts[i].call->arguments, from - parts[i].first,
                                 to - parts[i].first, scratch);
          if (recorder_ != nullptr) recorder_->add(worker, &op, started);
          if (status == COLIBRI_OK) continue;
          failed.store(parts[i].call, std::memory_order_relaxed);
          return status;
        }
        return colibri_status{COLIBRI_OK};
      });
  if (recorder_ != nullptr) recorder_->end_phase();
  if (code == COLIBRI_OK) return {};
  const Operator& op = *failed.load()->what;
  return {code, "plugin " + op.choice().plugin->id() + ": " + op.description() +
                    " failed with status " + std::to_string(code)};
}

}  // namespace colibri::engine
