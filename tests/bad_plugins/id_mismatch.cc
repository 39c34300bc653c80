// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_plugin table = good::plugin("somebody_else");

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
