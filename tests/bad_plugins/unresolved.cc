// SPDX-License-Identifier: Apache-2.0
// Refers to a function that no library has: with lazy binding it would load, and die at the first
// call.
#include "tests/bad_plugins/good_sampler.h"

extern "C" void function_of_another_world();

static constexpr colibri_plugin table = [] {
  colibri_plugin plugin = good::plugin("unresolved");
  plugin.close = [] { function_of_another_world(); };
  return plugin;
}();

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
