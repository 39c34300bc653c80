// SPDX-License-Identifier: Apache-2.0
// Where the model lies and is computed: on the CPU, or all of it on one device.
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

using config::Placement;

// Whether the pipeline names the plugin as one that it wants. The answer of a device has bytes of
// its own, so that one that nobody named is used only where those of the CPU are not promised.
bool is_asked_for(const config::Pipeline& pipeline, const std::string& id) {
  const auto& prefer = pipeline.plugins.prefer;
  const auto& pins = pipeline.plugins.operators;
  return pipeline.numerics == config::Numerics::kFastest ||
         std::find(prefer.begin(), prefer.end(), id) != prefer.end() ||
         std::any_of(pins.begin(), pins.end(), [&](const auto& pin) { return pin.second == id; });
}

}  // namespace

Status Plan::place_model() {
  const Placement& wanted = pipeline.placement;
  if (wanted.kind == Placement::Kind::kCpu) return place_on(nullptr);
  if (wanted.kind == Placement::Kind::kAuto) {
    COLIBRI_TRY(try_devices());
    if (device != nullptr) return {};
    if (!why_not_there.empty()) {
      log(COLIBRI_LOG_WARNING,
          pipeline.place("placement") + ": running on the CPU: " + why_not_there);
    }
    return place_on(nullptr);
  }
  const std::string place = pipeline.place("placement");
  auto plugin = registry->find(plugin::kDeviceInterface, wanted.plugin);
  if (!plugin.ok()) return plugin.status().at(place);
  const uint32_t count = registry->device_count(wanted.plugin);
  if (wanted.device >= count) {
    return invalid_argument(place + ": " + wanted.plugin + " has " + std::to_string(count) +
                            (count == 1 ? " device" : " devices") + ", numbered from 0");
  }
  COLIBRI_ASSIGN(auto where, plugin::Device::open(std::move(*plugin), wanted.device));
  return place_on(std::move(where)).at(place);
}

// The first one that takes the model; else why each does not.
Status Plan::try_devices() {
  for (const auto& plugin : registry->offers(plugin::kDeviceInterface)) {
    if (!is_asked_for(pipeline, plugin->id())) continue;
    for (uint32_t number = 0; number < registry->device_count(plugin->id()); ++number) {
      COLIBRI_ASSIGN(auto where, plugin::Device::open(plugin, number));
      const std::string name = where->name();
      const Status status = place_on(std::move(where));
      if (status.ok()) return {};
      device = nullptr;
      if (status.code() != COLIBRI_UNSUPPORTED && status.code() != COLIBRI_OUT_OF_MEMORY) {
        return status;
      }
      why_not_there += (why_not_there.empty() ? "" : "; ") + name + ": " + status.text();
    }
  }
  return {};
}

Status Plan::place_on(std::unique_ptr<const plugin::Device> where) {
  expert_files.reset();
  operators.reset();
  device = std::move(where);
  COLIBRI_TRY(plan_operators());
  return plan_memory();
}

DeviceExperts::Shape Plan::device_experts() const {
  return {layers.routed_layers, static_cast<uint32_t>(spec.experts), memory.slot,
          staging_bytes(spec, layers)};
}

Status Plan::plan_device_memory() {
  const config::Budget& wanted = pipeline.experts.budget;
  const uint64_t budget = wanted.kind == config::Budget::Kind::kAuto ? memory.experts_all
                                                                     : wanted.of(memory.experts_all);
  if (budget < memory.experts_all) {
    return unsupported(pipeline.place("experts.budget") + ": a device holds all experts, " +
                       human_bytes(memory.experts_all) + ", and the budget is " +
                       human_bytes(budget));
  }
  const Workspace::Bytes work = Workspace::bytes(spec, max_rows, true);
  DeviceMemoryPlan& there = device_memory;
  there.dense = layers.dense_bytes;
  there.experts = memory.experts_all;
  there.rope = RopeTable::bytes(spec.rope, max_tokens);
  there.kv =
      static_cast<uint64_t>(sequences) * KvCache::bytes(spec, pipeline.context.kv, max_tokens);
  there.workspace = work.rows;
  there.scratch = operators->scratch_bytes();
  COLIBRI_ASSIGN(const uint64_t free, device->free_memory());
  there.granted = static_cast<uint64_t>(static_cast<double>(free) * pipeline.devices.memory);
  memory.workspace = work.lists;
  const DeviceExperts::Shape experts = device_experts();
  memory.scratch =
      std::max(threads * experts.staging_bytes + largest_weight(layers),
               experts.layers == 0 ? 0 : DeviceExperts::loading_bytes(experts, threads));
  if (there.total() <= there.granted) return {};
  return out_of_memory("the model needs " + human_bytes(there.total()) + " (experts " +
                       human_bytes(there.experts) + ", other weights " + human_bytes(there.dense) +
                       ", key-value cache " + human_bytes(there.kv) + ", working memory " +
                       human_bytes(there.workspace + there.scratch + there.rope) +
                       "), but " + pipeline.place("devices.memory") + " grants " +
                       human_bytes(there.granted) + " of the " + human_bytes(free) +
                       " that are free there");
}

}  // namespace colibri::engine
