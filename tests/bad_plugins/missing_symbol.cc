// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_plugin table = good::plugin("missing_symbol");

extern "C" const colibri_plugin* colibri_plugin_v0() {
  return &table;
}
