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
using experts::ExpertPlace;

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
  Place dense = pipeline.placement.dense;
  const char* part = "placement.dense";
  // A device of experts is that of all else.
  COLIBRI_TRY(for_each_expert_place([&](const Place& experts, const char* key) -> Status {
    if (experts.kind != Place::Kind::kDevice || experts == dense) return {};
    if (dense.kind == Place::Kind::kAuto) {
      dense = experts;
      part = "placement.experts";
      return {};
    }
    return unsupported(pipeline.place(key) + ": experts lie on the device of all else (" + part +
                       "), or on the CPU");
  }));
  if (dense.kind == Place::Kind::kCpu) return place_on(nullptr, ExpertPlace::kHost);
  if (dense.kind == Place::Kind::kAuto) return try_devices();
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

Status Plan::for_each_expert_place(
    FunctionRef<Status(const config::Place&, const char*)> check) const {
  const config::ExpertPlaces& experts = pipeline.placement.experts;
  COLIBRI_TRY(check(experts.others, "placement.experts"));
  for (const config::ExpertPlaces::Layers& layers_there : experts.layers) {
    const std::string key = "placement.experts." + layers_there.key;
    if (layers_there.last >= spec.layers.size()) {
      return invalid_argument(pipeline.place(key) + ": the model has " +
                              std::to_string(spec.layers.size()) + " layers, numbered from 0");
    }
    COLIBRI_TRY(check(layers_there.place, key.c_str()));
  }
  return {};
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

// On the device, with the experts where they are wanted. Those that may lie anywhere: all of them
// there, or as many as fit, or none.
Status Plan::place_around(const std::shared_ptr<const plugin::Device>& where) {
  const Place::Kind others = pipeline.placement.experts.others.kind;
  if (others == Place::Kind::kCpu) return place_on(where, ExpertPlace::kHost);
  Status whole = place_on(where, ExpertPlace::kDevice);
  if (others == Place::Kind::kDevice || layers.routed_layers == 0 || !is_lack(whole)) return whole;
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

void Plan::place_experts(ExpertPlace others) {
  expert_places.clear();
  for (uint32_t layer = 0; layer < spec.layers.size(); ++layer) {
    if (!spec.layers[layer].routed()) continue;
    ExpertPlace place = others;
    for (const config::ExpertPlaces::Layers& of : pipeline.placement.experts.layers) {
      if (layer < of.first || layer > of.last || of.place.kind == Place::Kind::kAuto) continue;
      place = of.place.kind == Place::Kind::kCpu ? ExpertPlace::kHost : ExpertPlace::kDevice;
    }
    expert_places.push_back(place);
  }
}

uint32_t Plan::layers_with_experts(ExpertPlace place) const {
  return static_cast<uint32_t>(std::count(expert_places.begin(), expert_places.end(), place));
}

Status Plan::place_on(std::shared_ptr<const plugin::Device> where, ExpertPlace experts) {
  expert_files.reset();
  operators.reset();
  expert_chooser.reset();
  device_memory = {};
  device = std::move(where);
  place_experts(experts);
  if (layers_with_experts(ExpertPlace::kBoth) > 0) COLIBRI_TRY(check_tier());
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

DeviceExperts::Shape Plan::device_experts() const {
  return {routing_shape(), expert_places, static_cast<uint32_t>(device_memory.shared_slots),
          memory.slot, staging_bytes(spec, layers)};
}

Status Plan::plan_device_memory() {
  const uint64_t all = routing_shape().keys() * memory.slot;
  const config::Budget& wanted = pipeline.experts.budget;
  if (layers.store_layers == 0 && wanted.kind != config::Budget::Kind::kAuto &&
      wanted.of(all) < all) {
    return unsupported(pipeline.place("experts.budget") + ": a device holds all experts, " +
                       human_bytes(all) + ", and the budget is " + human_bytes(wanted.of(all)));
  }
  const Workspace::Bytes work = Workspace::bytes(
      spec, max_rows, layers.store_layers == 0 ? PassPlace::kDevice : PassPlace::kDeviceButExperts);
  const uint32_t fixed_layers = layers_with_experts(ExpertPlace::kDevice);
  DeviceMemoryPlan& there = device_memory;
  there.dense = layers.dense_bytes;
  there.slots = static_cast<uint64_t>(spec.experts) * fixed_layers;
  there.experts = there.slots * memory.slot;
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
      std::max(largest_weight(layers), fixed_layers > 0 ? threads * memory.slot : uint64_t{0});
  if (there.total() <= there.granted) return plan_shared_slots();
  return out_of_memory("the model needs " + human_bytes(there.total()) + " (experts " +
                       human_bytes(there.experts) + ", other weights " + human_bytes(there.dense) +
                       ", key-value cache " + human_bytes(there.kv) + ", working memory " +
                       human_bytes(there.workspace + there.scratch + there.rope) + "), but " +
                       pipeline.place("devices.memory") + " grants " + human_bytes(there.granted) +
                       " of the " + human_bytes(free) + " that are free there");
}

// What is left goes to copies of experts.
Status Plan::plan_shared_slots() {
  const uint64_t sharing = layers_with_experts(ExpertPlace::kBoth);
  if (sharing == 0) return {};
  DeviceMemoryPlan& there = device_memory;
  const uint64_t left = there.granted - there.total();
  if (left < sharing * memory.slot) {
    return out_of_memory("one of each layer needs " + human_bytes(sharing * memory.slot) +
                         ", and beside the " + human_bytes(there.total()) + " of all else " +
                         human_bytes(left) + " are left");
  }
  there.shared_slots = std::min(left / memory.slot, sharing * static_cast<uint64_t>(spec.experts));
  there.slots += there.shared_slots;
  there.experts = there.slots * memory.slot;
  return {};
}

}  // namespace colibri::engine
