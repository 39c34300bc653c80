// SPDX-License-Identifier: Apache-2.0
// Ends the process while it is loaded.
#include <unistd.h>

#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_plugin table = good::plugin("leaving_initialiser");

static const int left = [] {
  _exit(0);
  return 0;
}();

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return left == 0 ? &table : nullptr;
}
