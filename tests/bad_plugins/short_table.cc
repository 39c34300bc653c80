// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_sampler_1 sampler = [] {
  colibri_sampler_1 made = good::sampler;
  made.struct_size = offsetof(colibri_sampler_1, apply);
  return made;
}();
static constexpr colibri_plugin table = [] {
  colibri_plugin plugin = good::plugin("short_table");
  plugin.get_interface = [](const char*) -> const void* { return &sampler; };
  return plugin;
}();

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
