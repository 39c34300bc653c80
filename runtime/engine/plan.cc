// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/plan.h"

#include <algorithm>
#include <utility>

#include "runtime/engine/kv_cache.h"
#include "runtime/engine/rope_table.h"
#include "runtime/engine/weights.h"
#include "runtime/engine/workspace.h"
#include "runtime/experts/store.h"
#include "runtime/machine/process_memory.h"
#include "runtime/model/bind.h"
#include "runtime/model/choose_format.h"
#include "runtime/model/model_files.h"

namespace colibri::engine {
namespace {

constexpr const char* kPolicy = "colibri.cache_policy/1";
// About what a disk can read while a layer computes.
constexpr uint32_t kReadAhead = 2;

}  // namespace

Result<std::unique_ptr<Plan>> Plan::make(config::Pipeline pipeline, uint32_t sequences,
                                         const std::string& machine_root) {
  std::unique_ptr<Plan> plan(new Plan);
  plan->pipeline = std::move(pipeline);
  plan->sequences = sequences;
  COLIBRI_TRY(plan->negotiate(machine_root));
  COLIBRI_TRY(plan->open_model());
  COLIBRI_TRY(plan->open_plugins());
  COLIBRI_TRY(plan->plan_context());
  COLIBRI_TRY(plan->place_model());
  return plan;
}

Status Plan::negotiate(const std::string& machine_root) {
  COLIBRI_ASSIGN(profile, machine::Profile::detect(machine_root));
  COLIBRI_ASSIGN(registry, plugin::Registry::create(plugin::Request::from(pipeline), profile));
  threads = pipeline.threads.count.value_or(profile.usable_cores);
  decode_threads = pipeline.threads.decode.value_or(threads);
  if (decode_threads <= threads) return {};
  return invalid_argument(pipeline.place("threads.decode") + ": " + std::to_string(decode_threads) +
                          " threads are more than threads.count, " + std::to_string(threads));
}

Status Plan::open_model() {
  auto files = model::ModelFiles::open(pipeline.model.path.string());
  if (!files.ok()) return files.status().at(pipeline.place("model.path"));
  auto format = model::choose_format(*registry, pipeline.model.format, **files);
  if (!format.ok()) return format.status().at(pipeline.place("model.format"));
  format_plugin = (*format)->id();
  COLIBRI_ASSIGN(source, model::ModelSource::open(
                             std::move(*files),
                             (*format)->interface<colibri_format_1>(model::kFormatInterface)));
  COLIBRI_ASSIGN(architectures, model::known_architectures(pipeline.model.architecture));
  auto architecture = model::match(*source, architectures, pipeline.model.architecture);
  if (!architecture.ok()) return architecture.status().at(pipeline.place("model.architecture"));
  COLIBRI_ASSIGN(spec, model::bind(*source, **architecture));
  return {};
}

Status Plan::open_plugins() {
  auto opened = Tokenizer::open(*registry, pipeline.tokenizer, *source);
  if (!opened.ok()) return opened.status().at(pipeline.place("tokenizer.plugin"));
  tokenizer = std::move(*opened);
  auto found = registry->find(kPolicy, pipeline.experts.policy.plugin);
  if (!found.ok()) return found.status().at(pipeline.place("experts.policy.plugin"));
  COLIBRI_ASSIGN(policy,
                 plugin::Instance::create(std::move(*found), pipeline.experts.policy.options,
                                          pipeline.experts.policy.key + ".options"));
  return {};
}

Status Plan::plan_context() {
  const auto most = std::min<int64_t>(spec.max_tokens, INT32_MAX);
  max_tokens = pipeline.context.max_tokens.value_or(
      static_cast<uint32_t>(std::min<int64_t>(most, config::kAutoContextTokens)));
  if (max_tokens > most) {
    return invalid_argument(
        pipeline.place("context.max_tokens") + ": " + std::to_string(max_tokens) +
        " tokens are more than the model was made for, " + std::to_string(most));
  }
  max_rows = std::min<int64_t>(pipeline.context.prefill_chunk, max_tokens * sequences);
  return {};
}

Status Plan::plan_operators() {
  auto made = plugin::KernelChooser::create(*registry, pipeline.plugins.operators,
                                            device == nullptr ? nullptr : device->plugin());
  if (!made.ok()) return made.status();
  chooser.emplace(std::move(*made));
  if (device != nullptr) {
    auto of_experts = plugin::KernelChooser::create(*registry, pipeline.plugins.operators);
    if (!of_experts.ok()) return of_experts.status();
    expert_chooser.emplace(std::move(*of_experts));
  }
  operators.emplace(*chooser, expert_chooser ? *expert_chooser : *chooser);
  COLIBRI_ASSIGN(layers, plan_layers(spec, pipeline.model.quantize, pipeline.context.kv, max_rows,
                                     expert_places, *operators));
  if (layers.routed_layers == 0) return {};
  auto files =
      ExpertFiles::open(*source, spec, layers, pipeline.experts.io, static_cast<unsigned>(threads));
  if (!files.ok()) return files.status().at(pipeline.place("experts.io"));
  expert_files.emplace(std::move(*files));
  return {};
}

Status Plan::plan_memory() {
  memory = {};
  memory.process = machine::resident_bytes();
  memory.available = profile.memory_available;
  memory.slot = align_up(layers.bundle_bytes, kDirectAlignment);
  memory.experts_all = static_cast<uint64_t>(spec.experts) * layers.store_layers * memory.slot;
  const uint64_t staging = staging_bytes(spec, layers);
  memory.scratch = threads * (operators->scratch_bytes(false) + staging);
  if (device != nullptr) {
    COLIBRI_TRY(plan_device_memory());
  } else {
    memory.dense = layers.dense_bytes;
    memory.rope = RopeTable::bytes(spec.rope, max_tokens);
    memory.kv =
        static_cast<uint64_t>(sequences) * KvCache::bytes(spec, pipeline.context.kv, max_tokens);
    const Workspace::Bytes work = Workspace::bytes(spec, max_rows, PassPlace::kCpu);
    memory.workspace = work.rows + work.host;
  }
  return plan_experts();
}

Result<const Tokenizer*> Plan::required_tokenizer() const {
  if (tokenizer != nullptr) return tokenizer.get();
  return unsupported(source->files().path() + ": the model has no tokenizer (no " +
                     Tokenizer::known_files() + "), so it does not know text; the C API takes ids");
}

Status Plan::check_memory() const {
  // An integrated device takes from the same memory.
  const bool shares = device != nullptr && device->info().shares_memory != 0;
  const uint64_t total = memory.total() + (shares ? device_memory.total() : 0);
  if (total <= memory.available) return {};
  return out_of_memory("the plan needs " + human_bytes(total) + " (experts " +
                       human_bytes(memory.experts) + ", other weights " +
                       human_bytes(memory.dense) + ", key-value cache " + human_bytes(memory.kv) +
                       ", working memory " + human_bytes(memory.workspace + memory.scratch) +
                       "), but this machine can give " + human_bytes(memory.available) +
                       " now; lower experts.budget, context.max_tokens or model.quantize");
}

uint64_t Plan::bytes_per_token() const {
  uint64_t bytes = layers.dense_bytes;
  if (!spec.tied) bytes -= layers.embedding->packing.bytes;
  for (const Layer& layer : layers.layers) {
    if (layer.routed) bytes += static_cast<uint64_t>(spec.top_k) * layer.routed->bundle_bytes;
  }
  return bytes;
}

experts::StoreShape Plan::store_shape() const {
  experts::StoreShape shape = {routing_shape(), memory.slot};
  shape.layers = layers.store_layers;
  if (!expert_files->bundles()) shape.staging_bytes = staging_bytes(spec, layers);
  if (pipeline.experts.prefetch == config::Prefetch::kIdle) shape.ahead = kReadAhead;
  return shape;
}

Status Plan::plan_experts() {
  if (memory.experts_all == 0) return {};
  const experts::StoreShape shape = store_shape();
  const config::Budget& budget = pipeline.experts.budget;
  uint64_t bytes = 0;
  switch (budget.kind) {
    case config::Budget::Kind::kAll:
    case config::Budget::Kind::kBytes:
    case config::Budget::Kind::kPercent:
      bytes = budget.of(memory.experts_all);
      break;
    case config::Budget::Kind::kAuto: {
      // A tenth stays free for the rest of the process and the machine.
      const uint64_t usable = memory.available - memory.available / 10;
      const uint64_t others = memory.besides_experts();
      bytes = std::max(usable > others ? usable - others : 0, shape.floor_bytes());
      break;
    }
  }
  if (Status status = shape.check_budget(bytes); !status.ok()) {
    return status.at(pipeline.place("experts.budget"));
  }
  memory.experts = std::min(bytes, memory.experts_all) / memory.slot * memory.slot;
  memory.slots = shape.slots_in(memory.experts);
  memory.ahead = memory.slots < memory.all_slots() ? shape.ahead : 0;
  return {};
}

}  // namespace colibri::engine
