// SPDX-License-Identifier: Apache-2.0
// Plan: everything that is decided before a weight is read. `colibri plan` prints it and stops;
// Model::load() carries it out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/function_ref.h"
#include "runtime/base/status.h"
#include "runtime/config/architecture.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/device_experts.h"
#include "runtime/engine/expert_files.h"
#include "runtime/engine/layers.h"
#include "runtime/engine/operator.h"
#include "runtime/engine/tokenizer.h"
#include "runtime/experts/store.h"
#include "runtime/machine/profile.h"
#include "runtime/model/source.h"
#include "runtime/model/spec.h"
#include "runtime/plugin/device.h"
#include "runtime/plugin/kernel_chooser.h"
#include "runtime/plugin/registry.h"

namespace colibri::engine {

// Bytes, exact: what will be allocated on the device that the model is placed on.
struct DeviceMemoryPlan {
  uint64_t dense = 0;
  uint64_t experts = 0;  // those of some layers, and copies of others'
  uint64_t rope = 0;
  uint64_t kv = 0;
  uint64_t workspace = 0;
  uint64_t scratch = 0;
  uint64_t slots = 0;         // experts that it holds
  uint64_t shared_slots = 0;  // of them, copies of those that the host has, too
  uint64_t granted = 0;       // devices.memory of what is free there now

  uint64_t total() const { return dense + experts + rope + kv + workspace + scratch; }
};

// Bytes, exact: what will be allocated in the host's memory for the model and the contexts that were
// planned.
struct MemoryPlan {
  uint64_t process = 0;      // in memory already: the program, plugins, tokenizer, file headers
  uint64_t dense = 0;        // weights outside of experts
  uint64_t experts_all = 0;  // the arena that would hold every expert of the store
  uint64_t experts = 0;      // what the budget grants: the arena, and what is read ahead
  uint64_t slot = 0;         // of it, one expert
  uint64_t slots = 0;        // of it, experts that stay
  uint32_t ahead = 0;        // and those that are read ahead
  uint64_t rope = 0;
  uint64_t kv = 0;
  uint64_t workspace = 0;
  uint64_t scratch = 0;    // of all threads, and what loading works in
  uint64_t available = 0;  // what this machine can give now

  uint64_t besides_experts() const { return dense + rope + kv + workspace + scratch; }
  uint64_t total() const { return besides_experts() + experts; }
  // What the process will have in memory at most, once the context is full.
  uint64_t peak() const { return process + total(); }
  // Experts that the store has to do with.
  uint64_t all_slots() const { return slot == 0 ? 0 : experts_all / slot; }
};

class Plan {
 public:
  // Looks at the machine, negotiates plugins, reads the model's headers, binds its tensors, chooses
  // operators and sizes all memory, also of a model that is too large for this machine, for as many
  // sequences as are computed at the same time. machine_root is where /proc and /sys hang
  // (machine::Profile::detect). Errors say which key of the pipeline or which file is at fault.
  static Result<std::unique_ptr<Plan>> make(config::Pipeline pipeline, uint32_t sequences = 1,
                                            const std::string& machine_root = "/");
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  config::Pipeline pipeline;
  machine::Profile profile;
  std::unique_ptr<plugin::Registry> registry;
  std::string format_plugin;
  std::unique_ptr<model::ModelSource> source;
  std::vector<config::Architecture> architectures;
  model::ModelSpec spec;
  std::unique_ptr<Tokenizer> tokenizer;  // null = the model has none
  std::unique_ptr<plugin::Instance> policy;
  std::shared_ptr<const plugin::Device> device;     // that the model lies on; null = none
  std::vector<experts::ExpertPlace> expert_places;  // by layer with experts
  // What `placement: auto` looked for, did not find, and why; empty = it found all.
  std::string why_not_there;
  std::optional<plugin::KernelChooser> chooser;
  std::optional<plugin::KernelChooser> expert_chooser;  // of experts that lie elsewhere
  std::optional<OperatorSet> operators;
  Layers layers;
  std::optional<ExpertFiles> expert_files;  // nullopt = no layer has experts

  uint32_t threads = 1;
  uint32_t decode_threads = 1;  // of them, those that compute a single token
  int64_t sequences = 1;        // computed at the same time, each with a context of its own
  int64_t max_tokens = 0;       // of a context
  int64_t max_rows = 0;         // of a pass over the layers
  MemoryPlan memory;
  DeviceMemoryPlan device_memory;  // zeros without a device

  // Of the experts' store in the host's memory.
  experts::StoreShape store_shape() const;
  // Of the model's experts that lie on a device.
  DeviceExperts::Shape device_experts() const;
  // Of all experts.
  experts::RoutingShape routing_shape() const;
  uint64_t all_experts() const { return routing_shape().keys(); }
  // The tokenizer; COLIBRI_UNSUPPORTED if the model has none.
  Result<const Tokenizer*> required_tokenizer() const;
  // COLIBRI_OUT_OF_MEMORY, with the numbers, if this machine cannot give that memory now.
  Status check_memory() const;
  // Bytes of weights that decoding a token reads: all but the experts that it does not visit and
  // the rows of an embedding that it does not look up.
  uint64_t bytes_per_token() const;

 private:
  Plan() = default;
  Status negotiate(const std::string& machine_root);
  Status open_model();
  Status open_plugins();
  Status plan_context();
  // placement.cc: where the model lies, and all that follows from it.
  Status place_model();
  Status for_each_expert_place(FunctionRef<Status(const config::Place&, const char*)> check) const;
  // others: of the layers that the pipeline does not name, or says `auto` of.
  Status place_on(std::shared_ptr<const plugin::Device> where, experts::ExpertPlace others);
  void place_experts(experts::ExpertPlace others);
  uint32_t layers_with_experts(experts::ExpertPlace place) const;
  Status check_tier() const;
  Status place_around(const std::shared_ptr<const plugin::Device>& where);
  Status try_devices();
  Status plan_device_memory();
  Status plan_shared_slots();
  Status plan_operators();
  Status plan_memory();
  Status plan_experts();
};

}  // namespace colibri::engine
