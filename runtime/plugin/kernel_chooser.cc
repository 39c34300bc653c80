// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/kernel_chooser.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/guard.h"

namespace colibri::plugin {
namespace {

constexpr char kKernels[] = "colibri.kernels/0";

// Why the question cannot even be put to a plugin: it would not see all of it. Empty = it can.
std::string beyond(const colibri_op_desc& desc, const colibri_kernels_0& table) {
  const uint32_t known = table.attribute_size[desc.op];
  if (known == 0) return "does not know this operator";
  uint32_t given = 0;
  std::memcpy(&given, desc.attributes, sizeof(given));
  const auto* bytes = static_cast<const unsigned char*>(desc.attributes);
  const auto* unseen = std::find_if(bytes + std::min(known, given), bytes + given,
                                    [](unsigned char byte) { return byte != 0; });
  if (unseen == bytes + given) return "";
  return "knows " + std::to_string(known) + " bytes of the attributes, and byte " +
         std::to_string(unseen - bytes) + " behind them is not zero";
}

// Why a plugin does not take the operator; empty = it does.
std::string ask(const colibri_op_desc& desc, const colibri_kernels_0& table) {
  std::string reason = beyond(desc, table);
  if (!reason.empty()) return reason;
  char why_not[128] = {};
  int32_t yes = 0;
  const Status status = guarded("supports", [&]() -> Status {
    yes = table.supports(&desc, why_not);
    return {};
  });
  if (!status.ok()) return status.text();
  if (yes == 1) return "";
  const size_t length = strnlen(why_not, sizeof(why_not));
  return length == 0 ? "gives no reason" : std::string(why_not, length);
}

}  // namespace

Result<KernelChooser> KernelChooser::create(const Registry& registry,
                                            const std::map<std::string, std::string>& pins,
                                            std::shared_ptr<const Plugin> of_device) {
  KernelChooser chooser;
  chooser.of_device_ = std::move(of_device);
  chooser.numerics_ = registry.numerics();
  for (const auto& plugin : registry.offers(kKernels)) {
    chooser.candidates_.push_back({plugin, plugin->interface<colibri_kernels_0>(kKernels)});
  }
  if (chooser.candidates_.empty()) return unsupported(registry.explain(kKernels));
  for (const auto& [name, plugin_id] : pins) {
    const std::string key = registry.place("plugins.operators." + name);
    const uint32_t op = operator_of_name(name);
    if (op == 0) {
      return invalid_argument(key + ": is no operator" +
                              config::suggestion(name, operator_names()));
    }
    const auto plugin = registry.find(kKernels, plugin_id);
    if (!plugin.ok()) return plugin.status().at(key);
    chooser.pins_[op] = plugin_id;
  }
  return chooser;
}

std::string KernelChooser::barred(const Candidate& candidate, uint32_t op) const {
  const std::string& id = candidate.plugin->id();
  const auto pin = pins_.find(op);
  if (pin != pins_.end() && pin->second != id) {
    return "plugins.operators gives it to " + pin->second;
  }
  if (of_device_ != nullptr) {
    return candidate.plugin == of_device_
               ? ""
               : "cannot compute in the memory of a device of " + of_device_->id();
  }
  if (candidate.plugin->manifest().offers(kDeviceInterface)) {
    return "computes in the memory of its device, and the model is placed on the CPU";
  }
  const bool own_bytes = candidate.table->numerics == COLIBRI_NUMERICS_DETERMINISTIC;
  if (own_bytes && pin == pins_.end() && numerics_ == config::Numerics::kReproducible) {
    return "its results are deterministic but its own: plugins.operators must name it";
  }
  return "";
}

Result<KernelChoice> KernelChooser::choose(const colibri_op_desc& desc) const {
  if (desc.op == 0 || desc.op >= COLIBRI_OP_COUNT || desc.attributes == nullptr) {
    return invalid_argument("no such operator: " + describe(desc));
  }
  KernelChoice choice;
  for (const Candidate& candidate : candidates_) {
    std::string reason = barred(candidate, desc.op);
    if (reason.empty()) reason = ask(desc, *candidate.table);
    if (reason.empty()) {
      choice.plugin = candidate.plugin;
      choice.table = candidate.table;
      choice.host = candidate.plugin->host();
      return choice;
    }
    if (candidate.plugin == of_device_) {
      return unsupported(of_device_->id() + " does not compute " + describe(desc) + ": " + reason);
    }
    choice.refusals.push_back({candidate.plugin->id(), std::move(reason)});
  }
  std::string text = "no plugin computes " + describe(desc) + ":";
  for (const KernelRefusal& refusal : choice.refusals) {
    text += "\n  " + refusal.plugin_id + ": " + refusal.reason;
  }
  return unsupported(text);
}

}  // namespace colibri::plugin
