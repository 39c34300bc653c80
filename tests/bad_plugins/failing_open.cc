// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_plugin table = [] {
  colibri_plugin plugin = good::plugin("failing_open");
  plugin.open = [](const colibri_host*, colibri_error* error) -> colibri_status {
    std::snprintf(error->text, sizeof(error->text), "the licence server does not answer");
    return error->code = COLIBRI_IO;
  };
  return plugin;
}();

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
