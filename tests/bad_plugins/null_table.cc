// SPDX-License-Identifier: Apache-2.0
#include "colibri/plugin.h"

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return nullptr;
}
