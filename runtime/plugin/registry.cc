// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/registry.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "colibri/device.h"
#include "runtime/base/guard.h"
#include "runtime/base/log.h"
#include "runtime/plugin/candidates.h"
#include "runtime/plugin/opener.h"
#include "runtime/plugin/search.h"

namespace colibri::plugin {
namespace {

// Position in the prefer list; behind it for all others.
size_t preference(const Request& request, const std::string& id) {
  const auto found = std::find(request.prefer.begin(), request.prefer.end(), id);
  return static_cast<size_t>(found - request.prefer.begin());
}

void sort_by_choice(const Request& request, std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& left, const Candidate& right) {
                     const Decision& a = left.decision;
                     const Decision& b = right.decision;
                     if (left.is_duplicate != right.is_duplicate) return right.is_duplicate;
                     const size_t prefer_a = preference(request, a.id);
                     const size_t prefer_b = preference(request, b.id);
                     if (prefer_a != prefer_b) return prefer_a < prefer_b;
                     if (a.rank != b.rank) return a.rank > b.rank;
                     return a.id < b.id;
                   });
}

// Options of plugins.options for each plugin, checked even if the plugin is not used.
std::map<std::string, Options> check_all_options(const Request& request,
                                                 const std::vector<Candidate>& candidates,
                                                 config::Problems& problems) {
  std::map<std::string, Options> checked;
  std::vector<std::string_view> known;
  for (const Candidate& candidate : candidates) {
    const Manifest& manifest = candidate.manifest;
    if (manifest.id.empty() || checked.contains(manifest.id)) continue;
    known.push_back(manifest.id);
    const auto given = request.options.find(manifest.id);
    checked[manifest.id] =
        check_options(manifest.id, manifest.options,
                      given == request.options.end() ? config::Value() : given->second,
                      "plugins.options." + manifest.id, nullptr, /*complete=*/false, problems);
  }
  for (const auto& [id, value] : request.options) {
    if (checked.contains(id)) continue;
    problems.add(position_of(value), "plugins.options." + id,
                 "no plugin has this id" + config::suggestion(id, known));
  }
  return checked;
}

// Counts the devices that the plugin computes on; fine for one that has none to compute on.
Status probe(const Plugin& plugin, uint32_t& count) {
  const auto* device = plugin.interface<colibri_device_0>(kDeviceInterface);
  if (device == nullptr) return {};
  return guarded("probe", [&]() -> Status {
    colibri_error error = empty_error();
    const colibri_status code = device->probe(&count, &error);
    COLIBRI_TRY(from_c(code, error, "probe"));
    return count > 0 ? Status() : internal_error("probe found no device and gave no reason");
  });
}

std::string names(const std::vector<std::shared_ptr<const Plugin>>& plugins) {
  std::string text;
  for (const auto& plugin : plugins) text += (text.empty() ? "" : ", ") + plugin->id();
  return text.empty() ? "none" : text;
}

}  // namespace

Request Request::from(const config::Pipeline& pipeline) {
  Request request;
  for (const std::filesystem::path& folder : pipeline.plugins.search) {
    request.search.push_back(std::filesystem::absolute(folder));
  }
  request.prefer = pipeline.plugins.prefer;
  request.deny = pipeline.plugins.deny;
  request.options = pipeline.plugins.options;
  request.numerics = pipeline.numerics;
  request.place = [copy = pipeline](std::string_view key) { return copy.place(key); };
  return request;
}

class RegistryBuilder {
 public:
  RegistryBuilder(const Request& request, const machine::Profile& profile)
      : request_(request), candidates_(collect_candidates(request, profile)) {}

  Result<std::unique_ptr<Registry>> build() {
    COLIBRI_TRY(check_folders());
    config::Problems problems;
    const std::map<std::string, Options> options =
        check_all_options(request_, candidates_, problems);
    COLIBRI_TRY(problems.status());
    sort_by_choice(request_, candidates_);
    std::unique_ptr<Registry> registry(new Registry());
    registry->numerics_ = request_.numerics;
    registry->place_ = request_.place;
    for (Candidate& candidate : candidates_) {
      Decision& decision = candidate.decision;
      if (!decision.reason.empty()) continue;
      auto opened = open_plugin(candidate.manifest, decision.file, candidate.table,
                                options.at(candidate.manifest.id));
      if (!opened.ok()) {
        decision.reason = opened.status().text();
        continue;
      }
      uint32_t devices = 0;
      if (Status probed = probe(**opened, devices); !probed.ok()) {
        decision.reason = probed.text();
        candidate.is_foreign = probed.code() == COLIBRI_UNSUPPORTED;
        continue;
      }
      decision.accepted = true;
      if (devices > 0) registry->device_counts_[candidate.manifest.id] = devices;
      registry->plugins_.push_back(std::move(*opened));
    }
    COLIBRI_TRY(check_names());
    std::stable_partition(candidates_.begin(), candidates_.end(),
                          [](const Candidate& each) { return each.decision.accepted; });
    for (Candidate& candidate : candidates_) {
      registry->decisions_.push_back(std::move(candidate.decision));
    }
    return registry;
  }

 private:
  std::string place(std::string_view key) const {
    return request_.place ? request_.place(key) : std::string(key);
  }

  Status check_folders() const {
    for (const std::filesystem::path& folder : request_.search) {
      std::error_code error;
      if (std::filesystem::exists(folder, error)) continue;
      return not_found(place("plugins.search") + ": no folder " + folder.string());
    }
    return {};
  }

  // The candidate with an id that the request names; a name that means nothing is not passed over.
  Result<const Candidate*> named(std::string_view key, const std::string& id) const {
    std::vector<std::string_view> known;
    for (const Candidate& candidate : candidates_) {
      if (candidate.decision.id == id) return &candidate;
      if (!candidate.decision.id.empty()) known.push_back(candidate.decision.id);
    }
    return not_found(place(key) + ": no plugin has the id " + config::quote(id) +
                     config::suggestion(id, known));
  }

  Status check_names() const {
    for (const std::string& id : request_.deny) COLIBRI_TRY(named("plugins.deny", id).status());
    for (const std::string& id : request_.prefer) {
      COLIBRI_ASSIGN(const Candidate* candidate, named("plugins.prefer", id));
      if (candidate->decision.accepted) continue;
      if (candidate->is_foreign) {
        colibri::log(COLIBRI_LOG_WARNING, place("plugins.prefer") + ": running without plugin " +
                                              id + ": " + candidate->decision.reason);
        continue;
      }
      return unsupported(place("plugins.prefer") + ": plugin " + id +
                         " cannot be used: " + candidate->decision.reason);
    }
    return {};
  }

  const Request& request_;
  std::vector<Candidate> candidates_;
};

Result<std::unique_ptr<Registry>> Registry::create(const Request& request,
                                                   const machine::Profile& profile) {
  return RegistryBuilder(request, profile).build();
}

std::string Registry::place(std::string_view key) const {
  return place_ ? place_(key) : std::string(key);
}

std::vector<std::shared_ptr<const Plugin>> Registry::offers(std::string_view interface_id) const {
  std::vector<std::shared_ptr<const Plugin>> offering;
  std::copy_if(plugins_.begin(), plugins_.end(), std::back_inserter(offering),
               [&](const auto& plugin) { return plugin->manifest().offers(interface_id); });
  return offering;
}

Result<std::shared_ptr<const Plugin>> Registry::find(std::string_view interface_id,
                                                     std::string_view plugin_id) const {
  for (const auto& plugin : plugins_) {
    if (plugin->id() != plugin_id) continue;
    if (plugin->manifest().offers(interface_id)) return plugin;
    return not_found("plugin " + plugin->id() + " does not offer " + std::string(interface_id) +
                     "; these do: " + names(offers(interface_id)));
  }
  for (const Decision& decision : decisions_) {
    if (decision.id != plugin_id) continue;
    return unsupported("plugin " + decision.id + " cannot be used: " + decision.reason + " (" +
                       decision.file + ")");
  }
  std::vector<std::string_view> known;
  for (const auto& plugin : plugins_) {
    if (plugin->manifest().offers(interface_id)) known.push_back(plugin->id());
  }
  return not_found("no plugin " + config::quote(plugin_id) + " for " + std::string(interface_id) +
                   config::suggestion(plugin_id, known));
}

uint32_t Registry::device_count(std::string_view plugin_id) const {
  const auto found = device_counts_.find(plugin_id);
  return found == device_counts_.end() ? 0 : found->second;
}

std::string Registry::explain(std::string_view interface_id) const {
  std::string text = "no usable plugin offers " + std::string(interface_id) + "; candidates:";
  bool any = false;
  for (const Decision& decision : decisions_) {
    const auto& ids = decision.interfaces;
    const bool unreadable = ids.empty();
    if (!unreadable && std::find(ids.begin(), ids.end(), interface_id) == ids.end()) continue;
    any = true;
    text += "\n  " + (decision.id.empty() ? "" : decision.id + ", ") + decision.file + ": " +
            (decision.accepted ? "usable" : decision.reason);
  }
  return any ? text : text + " none (see `colibri plugins list`)";
}

}  // namespace colibri::plugin
