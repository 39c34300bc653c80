// SPDX-License-Identifier: Apache-2.0
// Loads shared objects. A loaded one stays: code, threads' exceptions and static data of a plugin
// may be in use anywhere.
#pragma once

#include <string>

#include "colibri/plugin.h"
#include "runtime/base/status.h"

namespace colibri::plugin {

// The table that colibri_plugin_v1() of the file returns. path is absolute. The file's initialisers
// run in here, so it must have been found suitable first. Errors: the loader's message, a missing
// symbol, no table. [any]
Result<const colibri_plugin*> load_plugin_table(const std::string& path);

}  // namespace colibri::plugin
