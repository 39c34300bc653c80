// SPDX-License-Identifier: Apache-2.0
// Throws what is no std::exception, from the first function that the host calls.
#include "tests/bad_plugins/good_sampler.h"

extern "C" const colibri_plugin* colibri_plugin_v1() {
  throw 42;
}
