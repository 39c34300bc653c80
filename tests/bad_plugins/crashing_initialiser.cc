// SPDX-License-Identifier: Apache-2.0
// Dies while it is loaded, as a plugin for a processor that this machine is not would.
#include <csignal>

#include "tests/bad_plugins/good_sampler.h"

static constexpr colibri_plugin table = good::plugin("crashing_initialiser");

static const int crash = [] {
  std::signal(SIGILL, SIG_DFL);
  return std::raise(SIGILL);
}();

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return crash == 0 ? &table : nullptr;
}
