// SPDX-License-Identifier: Apache-2.0
// Plugins that are linked into the program instead of lying in a file.
#pragma once

#include <vector>

#include "colibri/plugin.h"
#include "runtime/base/status.h"
#include "runtime/plugin/manifest.h"

namespace colibri::plugin {

struct StaticPlugin {
  const colibri_plugin* table;
  Manifest manifest;
};

// Offers a plugin to every registry made later. The table must live as long as the process. Errors:
// COLIBRI_CORRUPT_DATA for a bad manifest or table, COLIBRI_INVALID_ARGUMENT if the id is already
// registered. [any]
Status register_static(const colibri_plugin* table, const char* manifest_json);

std::vector<StaticPlugin> static_plugins();  // in the order of registration [any]

}  // namespace colibri::plugin
