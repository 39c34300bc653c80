// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/static_plugins.h"

#include <mutex>

#include "runtime/plugin/tables.h"

namespace colibri::plugin {
namespace {

std::mutex mutex;
std::vector<StaticPlugin>& registered() {
  static std::vector<StaticPlugin> list;
  return list;
}

}  // namespace

Status register_static(const colibri_plugin* table, const char* manifest_json) {
  if (table == nullptr || manifest_json == nullptr) {
    return invalid_argument("registering a plugin needs its table and its manifest");
  }
  Result<Manifest> manifest = parse_manifest(manifest_json);
  if (!manifest.ok()) return manifest.status().at("manifest");
  if (manifest->abi_fits()) COLIBRI_TRY(check_plugin_table(*table, *manifest));

  const std::lock_guard lock(mutex);
  for (const StaticPlugin& other : registered()) {
    if (other.manifest.id == manifest->id) {
      return invalid_argument("a plugin with the id " + manifest->id + " is already registered");
    }
  }
  registered().push_back({table, std::move(*manifest)});
  return {};
}

std::vector<StaticPlugin> static_plugins() {
  const std::lock_guard lock(mutex);
  return registered();
}

}  // namespace colibri::plugin
