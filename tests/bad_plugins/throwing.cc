// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_plugin table = [] {
  colibri_plugin plugin = good::plugin("throwing");
  plugin.open = [](const colibri_host*, colibri_error*) -> colibri_status {
    throw std::runtime_error("out of patience");
  };
  return plugin;
}();

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
