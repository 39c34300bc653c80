// SPDX-License-Identifier: Apache-2.0
// The plugin table of a CPU plugin: these operators under "colibri.kernels/0", nothing else.
#pragma once

#include "colibri/plugin.h"
#include "plugins/common/entry.h"
#include "plugins/cpu_common/frontend.h"
#include "plugins/cpu_common/operators.h"

namespace colibri::cpu {

template <const Operators& operators>
constexpr colibri_kernels_0 kKernelTable = kernel_table<operators>();

// constexpr colibri_plugin plugin = kernel_plugin<my_operators>("cpu_mine", "0.1.0"); id and
// version are the manifest's.
template <const Operators& operators>
constexpr colibri_plugin kernel_plugin(const char* id, const char* version) {
  return plugin::entry<kKernelTable<operators>>(id, version);
}

}  // namespace colibri::cpu
