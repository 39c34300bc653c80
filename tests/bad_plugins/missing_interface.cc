// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_plugin table = [] {
  colibri_plugin plugin = good::plugin("missing_interface");
  plugin.get_interface = [](const char*) -> const void* { return nullptr; };
  return plugin;
}();

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
