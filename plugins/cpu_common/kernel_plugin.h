// SPDX-License-Identifier: Apache-2.0
// The plugin table of a CPU plugin: these operators under "colibri.kernels/0", nothing else.
#pragma once

#include <cstring>

#include "colibri/plugin.h"
#include "plugins/cpu_common/frontend.h"
#include "plugins/cpu_common/operators.h"

namespace colibri::cpu {

// constexpr colibri_plugin plugin = kernel_plugin<my_operators>("cpu_mine", "0.1.0"); id and
// version are the manifest's.
template <const Operators& operators>
constexpr colibri_plugin kernel_plugin(const char* id, const char* version) {
  colibri_plugin plugin = {};
  plugin.struct_size = sizeof(plugin);
  plugin.abi_minor = COLIBRI_ABI_MINOR;
  plugin.id = id;
  plugin.version = version;
  plugin.get_interface = [](const char* interface) -> const void* {
    static constexpr colibri_kernels_0 table = kernel_table<operators>();
    return std::strcmp(interface, "colibri.kernels/0") == 0 ? &table : nullptr;
  };
  return plugin;
}

}  // namespace colibri::cpu
