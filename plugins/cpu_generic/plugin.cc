// SPDX-License-Identifier: Apache-2.0
// cpu_generic: the scalar reference as a plugin. It computes everything and stands last.
#include "colibri/plugin.h"

#include "plugins/common/entry.h"
#include "plugins/cpu_generic/kernel_table.h"

namespace colibri::cpu_generic {
namespace {

constexpr colibri_plugin kPlugin = plugin::entry<kKernelTable>("cpu_generic", "0.1.0");

}  // namespace
}  // namespace colibri::cpu_generic

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu_generic::kPlugin;
}
