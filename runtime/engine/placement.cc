// SPDX-License-Identifier: Apache-2.0
// Where the model lies and is computed: on the CPU, on one device, or on a device all but the experts.
#include <algorithm>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/engine/kv_cache.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/rope_table.h"
#include "runtime/engine/weights.h"
#include "runtime/engine/workspace.h"

namespace colibri::engine {
namespace {

using config::Place;

// Whether the pipeline names the plugin as one that it wants. No device that nobody named is used:
// its answer may have bytes of its own, and the kernels of `cuda` have never run on a GPU.
bool is_asked_for(const config::Pipeline& pipeline, const std::string& id) {
  const auto& prefer = pipeline.plugins.prefer;
  const auto& pins = pipeline.plugins.operators;
  return std::find(prefer.begin(), prefer.end(), id) != prefer.end() ||
         std::any_of(pins.begin(), pins.end(), [&](const auto& pin) { return pin.second == id; });
}

// Whether a device lacks something that another place may have.
bool is_lack(const Status& status) {
  return status.code() == COLIBRI_UNSUPPORTED || status.code() == COLIBRI_OUT_OF_MEMORY;
}

}  // namespace

Status Plan::place_model() {
  const Place& experts = pipeline.placement.experts;
  Place dense = pipeline.placement.dense;
  const bool follows = experts.kind == Place::Kind::kDevice && dense.kind == Place::Kind::kAuto;
  if (follows) dense = experts;
  if (experts.kind == Place::Kind::kDevice && dense != experts) {
    return unsupported(pipeline.place("placement.experts") +
                       ": experts lie on the device of all else (placement.dense), or on the CPU");
  }
  if (dense.kind == Place::Kind::kCpu) return place_on(nullptr, ExpertPlace::kHost);
  if (dense.kind == Place::Kind::kAuto) return try_devices();
  const char* const part = follows ? "placement.experts" : "placement.dense";
  const bool is_map = pipeline.effective.at(part) != nullptr;
  const std::string place = pipeline.place(is_map ? part : "placement");
  auto plugin = registry->find(plugin::kDeviceInterface, dense.plugin);
  if (!plugin.ok()) return plugin.status().at(place);
  const uint32_t count = registry->device_count(dense.plugin);
  if (dense.device >= count) {
    return invalid_argument(place + ": " + dense.plugin + " has " + std::to_string(count) +
                            (count == 1 ? " device" : " devices") + ", numbered from 0");
  }
  COLIBRI_ASSIGN(auto where, plugin::Device::open(std::move(*plugin), dense.device));
  return place_around(std::move(where)).at(place);
}

// The first device that takes the model, or all of it but the experts; else the CPU.
Status Plan::try_devices() {
  for (const auto& plugin : registry->offers(plugin::kDeviceInterface)) {
    if (!is_asked_for(pipeline, plugin->id())) continue;
    for (uint32_t number = 0; number < registry->device_count(plugin->id()); ++number) {
      COLIBRI_ASSIGN(std::shared_ptr<const plugin::Device> where,
                     plugin::Device::open(plugin, number));
      Status status = place_around(where);
      if (status.ok() || !is_lack(status)) return status;
      why_not_there = why_not_there + (why_not_there.empty() ? "" : "; ") + where->name() + ": " +
                      status.text();
    }
  }
  if (!why_not_there.empty()) {
    colibri::log(COLIBRI_LOG_WARNING,
                 pipeline.place("placement") + ": running on the CPU: " + why_not_there);
  }
  return place_on(nullptr, ExpertPlace::kHost);
}

// On the device, with the experts where they are wanted: there, or as many of them as fit, or none.
Status Plan::place_around(const std::shared_ptr<const plugin::Device>& where) {
  const Place::Kind experts = pipeline.placement.experts.kind;
  if (experts == Place::Kind::kCpu) return place_on(where, ExpertPlace::kHost);
  Status whole = place_on(where, ExpertPlace::kDevice);
  if (experts == Place::Kind::kDevice || layers.routed_layers == 0 || !is_lack(whole)) return whole;
  std::string why = "all experts on " + where->name() + ": " + whole.text();
  if (Status some = place_on(where, ExpertPlace::kBoth); is_lack(some)) {
    COLIBRI_TRY(place_on(where, ExpertPlace::kHost));
    why += "; some of them: " + some.text();
  } else if (!some.ok()) {
    return some;
  }
  why_not_there = std::move(why);
  return {};
}

Status Plan::place_on(std::shared_ptr<const plugin::Device> where, ExpertPlace experts) {
  expert_files.reset();
  operators.reset();
  expert_chooser.reset();
  device_memory = {};
  device = std::move(where);
  experts_lie = experts;
  if (experts == ExpertPlace::kBoth) COLIBRI_TRY(check_tier());
  COLIBRI_TRY(plan_operators());
  return plan_memory();
}

Status Plan::check_tier() const {
  if (device->info().shares_memory != 0) {
    return unsupported("its memory is the host's, where they lie anyway");
  }
  // Where an expert is computed depends on what was asked before.
  if (pipeline.numerics == config::Numerics::kReproducible &&
      device->plugin()->manifest().numerics != COLIBRI_NUMERICS_IDENTICAL) {
    return unsupported(pipeline.place("numerics") +
                       ": answers would depend on which experts are there, as the plugin's "
                       "numerics are not identical to the CPU's");
  }
  return {};
}

experts::RoutingShape Plan::routing_shape() const {
  return {layers.routed_layers, static_cast<uint32_t>(spec.experts),
          static_cast<uint32_t>(spec.top_k)};
}

DeviceTier::Shape Plan::device_tier() const {
  return {routing_shape(), static_cast<uint32_t>(device_memory.tier_slots), memory.slot};
}

DeviceExperts::Shape Plan::device_experts() const {
  return {layers.routed_layers, static_cast<uint32_t>(spec.experts), memory.slot,
          staging_bytes(spec, layers)};
}

Status Plan::plan_device_memory() {
  const config::Budget& wanted = pipeline.experts.budget;
  const uint64_t budget = wanted.kind == config::Budget::Kind::kAuto
                              ? memory.experts_all
                              : wanted.of(memory.experts_all);
  const bool all_there = experts_lie == ExpertPlace::kDevice;
  if (all_there && budget < memory.experts_all) {
    return unsupported(pipeline.place("experts.budget") + ": a device holds all experts, " +
                       human_bytes(memory.experts_all) + ", and the budget is " +
                       human_bytes(budget));
  }
  const Workspace::Bytes work = Workspace::bytes(
      spec, max_rows,
      all_there || memory.experts_all == 0 ? PassPlace::kDevice : PassPlace::kDeviceButExperts);
  DeviceMemoryPlan& there = device_memory;
  there.dense = layers.dense_bytes;
  there.experts = all_there ? memory.experts_all : 0;
  there.rope = RopeTable::bytes(spec.rope, max_tokens);
  there.kv =
      static_cast<uint64_t>(sequences) * KvCache::bytes(spec, pipeline.context.kv, max_tokens);
  there.workspace = work.rows;
  there.scratch = operators->scratch_bytes(true);
  COLIBRI_ASSIGN(const uint64_t free, device->free_memory());
  there.granted = static_cast<uint64_t>(static_cast<double>(free) * pipeline.devices.memory);
  memory.workspace = work.host;
  // Weights pass through the host: the dense ones one after another, then an expert a thread.
  memory.scratch +=
      std::max(largest_weight(layers), all_there ? threads * memory.slot : uint64_t{0});
  if (experts_lie == ExpertPlace::kBoth) return plan_tier_memory();
  if (there.total() <= there.granted) return {};
  return out_of_memory("the model needs " + human_bytes(there.total()) + " (experts " +
                       human_bytes(there.experts) + ", other weights " + human_bytes(there.dense) +
                       ", key-value cache " + human_bytes(there.kv) + ", working memory " +
                       human_bytes(there.workspace + there.scratch + there.rope) + "), but " +
                       pipeline.place("devices.memory") + " grants " + human_bytes(there.granted) +
                       " of the " + human_bytes(free) + " that are free there");
}

Status Plan::plan_tier_memory() {
  DeviceMemoryPlan& there = device_memory;
  const uint64_t others = there.total();
  const uint64_t room = there.granted > others ? (there.granted - others) / memory.slot : 0;
  if (room < layers.routed_layers) {
    return out_of_memory(
        "one of each layer needs " + human_bytes(layers.routed_layers * memory.slot) +
        ", and beside the " + human_bytes(others) + " of all else " +
        human_bytes(there.granted > others ? there.granted - others : 0) + " are left");
  }
  there.tier_slots = std::min(room, memory.all_slots());
  there.experts = there.tier_slots * memory.slot;
  return {};
}

}  // namespace colibri::engine
