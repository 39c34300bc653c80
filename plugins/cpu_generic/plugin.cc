// SPDX-License-Identifier: Apache-2.0
// cpu_generic: the scalar reference as a plugin. It computes everything and stands last.
#include <cstring>

#include "plugins/cpu_generic/kernel_table.h"

namespace colibri::cpu_generic {
namespace {

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.kernels/0") == 0 ? &kernel_table() : nullptr;
}

constexpr colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "cpu_generic", "0.1.0", nullptr, nullptr,
    get_interface};

}  // namespace
}  // namespace colibri::cpu_generic

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu_generic::kPlugin;
}
