// SPDX-License-Identifier: Apache-2.0
// Model: a plan carried out. Weights are in memory; contexts and generators are made from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/block.h"
#include "runtime/engine/context.h"
#include "runtime/engine/device_experts.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/rope_table.h"
#include "runtime/engine/sampling.h"
#include "runtime/experts/route_trace.h"
#include "runtime/experts/store.h"

namespace colibri::engine {

// Shared by any number of threads, each with contexts of its own. Must outlive them.
class Model {
 public:
  // Reads the weights. With a budget for all experts those are read now, too. Refuses a plan that
  // this machine has no memory for.
  static Result<std::unique_ptr<Model>> load(std::unique_ptr<Plan> plan);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Plan& plan() const { return *plan_; }
  const model::ModelSpec& spec() const { return plan_->spec; }
  const Tokenizer* tokenizer() const { return plan_->tokenizer.get(); }
  // null = no layer has experts, or all experts lie on a device.
  const experts::Store* store() const { return store_.get(); }

  // Of the experts that a device holds; null = it holds none.
  const experts::Tier* tier() const { return device_experts_ ? &device_experts_->tier() : nullptr; }
  // Per key (layer * experts + expert) of plan().routing_shape(): the visits that asked for it. [any]
  std::vector<uint64_t> expert_uses() const;

  // Why there is no store(), and so: `lacking`. [any]
  Status check_store(const char* lacking) const;

  // Another budget for experts from now on, also of calls in progress; it changes no answer. Refuses
  // one below two experts, and leaves the old one when there is no memory. [any]
  Status set_expert_budget(uint64_t bytes);

  // From now on contexts that are created record what their routers choose, with which `colibri
  // cache replay` finds out what other cache policies and budgets would do. Once, before other
  // threads use the model.
  Status record_routes(const std::filesystem::path& path);
  // Ends the recording: only then the file is whole. No context may run any more.
  Status finish_routes();

  // What computes; contexts may share one.
  Result<std::shared_ptr<Batch>> create_batch() const;
  // max_tokens at most plan().max_tokens. Without a batch it has its own.
  Result<std::unique_ptr<Context>> create_context(int64_t max_tokens,
                                                  std::shared_ptr<Batch> batch = nullptr) const;
  Result<SamplerChain> create_sampler() const;  // the pipeline's chain

 private:
  explicit Model(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}
  Status load_experts(ThreadPool& pool);
  experts::PolicyPlugin policy_plugin() const;
  ForwardParts forward_parts() const;

  std::unique_ptr<Plan> plan_;
  Block dense_;
  RopeTable rope_;
  std::optional<DeviceExperts> device_experts_;
  std::unique_ptr<experts::Store> store_;
  std::unique_ptr<experts::RouteTraceWriter> route_trace_;  // null = routes are not recorded
};

}  // namespace colibri::engine
