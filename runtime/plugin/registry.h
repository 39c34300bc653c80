// SPDX-License-Identifier: Apache-2.0
// The registry: finds plugins, decides without running any of their code which of them suit this
// machine and pipeline, loads those, and remembers why each of the others is not there. Made once
// per model; read-only afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/plugin.h"
#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/machine/profile.h"
#include "runtime/plugin/manifest.h"
#include "runtime/plugin/options.h"
#include "runtime/plugin/plugin.h"

namespace colibri::plugin {

// What a pipeline asks for. Default: every plugin of the installation that gives reproducible
// results.
struct Request {
  std::vector<std::filesystem::path>
      search;  // folders; in front of COLIBRI_PLUGIN_PATH and the installed ones
  std::vector<std::string>
      prefer;  // ids that stand first, whatever their rank, where the machine has what they need
  std::vector<std::string> deny;                 // ids that are never loaded
  std::map<std::string, config::Value> options;  // plugins.options: plugin id -> map
  config::Numerics numerics = config::Numerics::kReproducible;
  bool search_installed = true;  // also COLIBRI_PLUGIN_PATH and <prefix>/lib/colibri/plugins
  std::function<std::string(std::string_view key)>
      place;  // "file:3:5: plugins.prefer", to stand before a message

  static Request from(const config::Pipeline& pipeline);
};

inline constexpr char kDeviceInterface[] = "colibri.device/0";
inline constexpr char kLinkedIn[] = "(linked in)";  // stands for the file of a registered plugin

// What became of one candidate.
struct Decision {
  std::string id;  // empty if the manifest could not be read
  std::string version;
  std::string file;  // absolute; "(linked in)" for a registered plugin
  std::vector<std::string> interfaces;
  int32_t rank = 0;
  uint32_t numerics = 0;  // COLIBRI_NUMERICS_*; 0 = offers no kernels
  bool accepted = false;
  std::string reason;  // why not; empty if accepted
};

class Registry {
 public:
  // Errors are faults of the request: a search folder that is not there, a preferred or denied id that
  // no plugin has, a preferred plugin that is refused (with its reason), options of an unknown plugin,
  // wrong options. A plugin that cannot be used is no error but a Decision; of a preferred one that
  // needs what this machine lacks a warning says so, once for each registry. [setup]
  static Result<std::unique_ptr<Registry>> create(const Request& request,
                                                  const machine::Profile& profile);

  // Every candidate, accepted ones first, in the order in which they are asked; then the refused
  // ones by id. [any]
  const std::vector<Decision>& decisions() const { return decisions_; }

  // The usable plugins with this interface, first choice first. [any]
  std::vector<std::shared_ptr<const Plugin>> offers(std::string_view interface_id) const;

  // The plugin of this id, if it is usable and has the interface; else COLIBRI_NOT_FOUND with what
  // there is instead, or COLIBRI_UNSUPPORTED with the reason of its refusal. [any]
  Result<std::shared_ptr<const Plugin>> find(std::string_view interface_id,
                                             std::string_view plugin_id) const;

  // How many devices a usable plugin with colibri.device/0 has, numbered from 0. [any]
  uint32_t device_count(std::string_view plugin_id) const;

  // A text for the case that nothing offers what is needed: what was looked for, where, and what
  // became of each candidate with this interface. [any]
  std::string explain(std::string_view interface_id) const;

  config::Numerics numerics() const { return numerics_; }
  // "file:3:5: plugins.prefer": how a message about a key of the request begins. [any]
  std::string place(std::string_view key) const;

 private:
  Registry() = default;
  friend class RegistryBuilder;

  std::function<std::string(std::string_view)> place_;
  config::Numerics numerics_ = config::Numerics::kReproducible;
  std::vector<Decision> decisions_;
  std::vector<std::shared_ptr<const Plugin>> plugins_;          // accepted, first choice first
  std::map<std::string, uint32_t, std::less<>> device_counts_;  // by plugin id
};

}  // namespace colibri::plugin
