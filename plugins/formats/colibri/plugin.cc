// SPDX-License-Identifier: Apache-2.0
#include "colibri/plugin.h"

#include <cstring>

#include "plugins/formats/colibri/format.h"

namespace {

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.format/1") == 0 ? colibri::colibri_format::format_table()
                                                  : nullptr;
}

constexpr colibri_plugin kPlugin = {
    sizeof(kPlugin), COLIBRI_ABI_MINOR, "colibri", "1.0.0", nullptr, nullptr, get_interface,
};

}  // namespace

const colibri_plugin* colibri_plugin_v1(void) {
  return &kPlugin;
}
