// SPDX-License-Identifier: Apache-2.0
// Which plugin computes an operator: on the CPU the first in the registry's order that says yes, on
// a device the device's own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/base/status.h"
#include "runtime/plugin/operator_text.h"
#include "runtime/plugin/registry.h"

namespace colibri::plugin {

struct KernelRefusal {
  std::string plugin_id;
  std::string reason;
};

struct KernelChoice {
  std::shared_ptr<const Plugin> plugin;
  const colibri_kernels_0* table = nullptr;
  const colibri_host* host = nullptr;   // for op_create; lives as long as plugin
  std::vector<KernelRefusal> refusals;  // candidates that stood before it
};

class KernelChooser {
 public:
  // pins: operator name ("attention") -> the only plugin id that may compute it. A deterministic
  // plugin computes only what it is pinned to, unless the pipeline's numerics are fastest. of_device:
  // the plugin of the device that computes, in whose memory no other plugin can; null = the CPU
  // computes. Errors: unknown operator or plugin, with suggestions; a refused plugin, with its
  // reason. [setup]
  static Result<KernelChooser> create(const Registry& registry,
                                      const std::map<std::string, std::string>& pins,
                                      std::shared_ptr<const Plugin> of_device = nullptr);

  // Errors: COLIBRI_UNSUPPORTED with what was asked and the answer of each candidate. [any]
  Result<KernelChoice> choose(const colibri_op_desc& desc) const;

 private:
  struct Candidate {
    std::shared_ptr<const Plugin> plugin;
    const colibri_kernels_0* table;
  };
  KernelChooser() = default;
  // Why a candidate is not even asked; empty = it is.
  std::string barred(const Candidate& candidate, uint32_t op) const;

  std::vector<Candidate> candidates_;
  config::Numerics numerics_ = config::Numerics::kReproducible;
  std::map<uint32_t, std::string> pins_;  // by COLIBRI_OP_*
  std::shared_ptr<const Plugin> of_device_;
};

}  // namespace colibri::plugin
