// SPDX-License-Identifier: Apache-2.0
// Checks of the tables that a plugin hands over, before anything in them is called.
#pragma once

#include <string_view>

#include "colibri/plugin.h"
#include "runtime/base/status.h"
#include "runtime/plugin/manifest.h"

namespace colibri::plugin {

// The plugin's own table: long enough, complete, and saying the same as the manifest.
Status check_plugin_table(const colibri_plugin& table, const Manifest& manifest);

// The table of an interface: there, long enough, with every function that is not optional. An
// interface that this host does not know only has to be there. Kernels must have been built from
// the host's draft and have the numerics class of the manifest.
Status check_interface_table(std::string_view interface_id, const void* table,
                             const Manifest& manifest);

}  // namespace colibri::plugin
