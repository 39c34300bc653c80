// SPDX-License-Identifier: Apache-2.0
#include "colibri/plugin.h"

#include "plugins/common/entry.h"
#include "plugins/formats/gguf/format.h"

namespace {

constexpr colibri_plugin kPlugin = colibri::plugin::entry<colibri::gguf::kFormat>("gguf", "1.0.0");

}  // namespace

const colibri_plugin* colibri_plugin_v1(void) {
  return &kPlugin;
}
