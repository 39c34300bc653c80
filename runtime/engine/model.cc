// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/model.h"

#include <utility>

#include "runtime/engine/weights.h"

namespace colibri::engine {

Result<std::unique_ptr<Model>> Model::load(std::unique_ptr<Plan> plan) {
  COLIBRI_TRY(plan->check_memory());
  std::unique_ptr<Model> model(new Model(std::move(plan)));
  Plan& made = *model->plan_;
  COLIBRI_ASSIGN(const auto pool, ThreadPool::create(made.threads));
  std::optional<plugin::DeviceQueue> queue;
  if (made.device != nullptr) {
    COLIBRI_ASSIGN(plugin::DeviceQueue created, plugin::DeviceQueue::create(*made.device));
    queue.emplace(std::move(created));
  }
  plugin::DeviceQueue* const to = queue ? &*queue : nullptr;
  COLIBRI_ASSIGN(model->rope_, RopeTable::create(made.spec.rope, made.max_tokens, to));
  COLIBRI_ASSIGN(model->dense_, load_dense(*made.source, made.spec, made.layers, *pool, to));
  if (made.device_memory.slots > 0) {
    COLIBRI_ASSIGN(DeviceExperts experts,
                   DeviceExperts::load(made.device_experts(), *made.expert_files->source(),
                                       model->policy_plugin(), *pool, *to));
    model->device_experts_.emplace(std::move(experts));
  }
  COLIBRI_TRY(model->load_experts(*pool));
  // What was read does not stay in memory twice where memory is short.
  if (model->store_ != nullptr && !model->store_->holds_all()) made.source->files().drop_cache();
  return model;
}

Status Model::load_experts(ThreadPool& pool) {
  const Plan& plan = *plan_;
  if (plan.layers.store_layers == 0) return {};
  COLIBRI_ASSIGN(store_, experts::Store::create(plan.store_shape(), plan.memory.experts,
                                                policy_plugin(), plan.expert_files->store_source(),
                                                plan.expert_files->reading()));
  return store_->holds_all() ? store_->load_all(pool) : Status();
}

experts::PolicyPlugin Model::policy_plugin() const {
  const plugin::Plugin& plugin = plan_->policy->plugin();
  return {plugin.id(), plugin.interface<colibri_cache_policy_1>("colibri.cache_policy/1"),
          plan_->policy->host()};
}

std::vector<uint64_t> Model::expert_uses() const {
  return device_experts_ ? device_experts_->tier().uses() : store_->uses();
}

Status Model::check_store(const char* lacking) const {
  if (store_ != nullptr) return {};
  return unsupported((plan_->expert_files ? "all experts lie on " + plan_->device->name()
                                          : std::string("no layer of the model has experts")) +
                     ": " + lacking);
}

Status Model::set_expert_budget(uint64_t bytes) {
  COLIBRI_TRY(check_store("there is no budget to set"));
  return store_->set_budget(bytes);
}

Status Model::record_routes(const std::filesystem::path& path) {
  COLIBRI_TRY(check_store("there are no routes to record"));
  COLIBRI_ASSIGN(route_trace_, experts::RouteTraceWriter::create(path, plan_->routing_shape(),
                                                                 plan_->memory.slot));
  return {};
}

Status Model::finish_routes() {
  return route_trace_ == nullptr ? Status() : route_trace_->finish();
}

ForwardParts Model::forward_parts() const {
  ForwardParts parts;
  parts.spec = &plan_->spec;
  parts.layers = &plan_->layers;
  parts.rope = &rope_;
  parts.device = plan_->device.get();
  parts.device_experts = device_experts_ ? &*device_experts_ : nullptr;
  parts.store = store_.get();
  parts.route_trace = route_trace_.get();
  parts.kv = plan_->pipeline.context.kv;
  parts.max_rows = plan_->max_rows;
  parts.decode_threads = plan_->decode_threads;
  parts.scratch_bytes = plan_->operators->scratch_bytes(false);
  parts.device_scratch_bytes = plan_->operators->scratch_bytes(true);
  return parts;
}

Result<std::shared_ptr<Batch>> Model::create_batch() const {
  COLIBRI_ASSIGN(std::shared_ptr<Batch> batch, Batch::create(forward_parts(), plan_->threads));
  return batch;
}

Result<std::unique_ptr<Context>> Model::create_context(int64_t max_tokens,
                                                       std::shared_ptr<Batch> batch) const {
  if (max_tokens > plan_->max_tokens) {
    return invalid_argument("a context of " + std::to_string(max_tokens) +
                            " tokens is larger than context.max_tokens, " +
                            std::to_string(plan_->max_tokens));
  }
  if (batch == nullptr) {
    COLIBRI_ASSIGN(batch, create_batch());
  }
  return Context::create(forward_parts(), max_tokens, std::move(batch));
}

Result<SamplerChain> Model::create_sampler() const {
  return SamplerChain::create(*plan_->registry, plan_->pipeline.sampling,
                              static_cast<uint32_t>(plan_->spec.vocabulary));
}

}  // namespace colibri::engine
