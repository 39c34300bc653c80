// SPDX-License-Identifier: Apache-2.0
// A sampler plugin with nothing wrong. Each file beside this one breaks one promise of it.
#pragma once

#include <cstring>

#include "colibri/sampler.h"

namespace good {

constexpr colibri_sampler_1 sampler = {
    sizeof(colibri_sampler_1),
    [](const colibri_host*, uint32_t) -> uint64_t { return 0; },
    [](const colibri_host*, uint32_t, void*, colibri_error*) -> colibri_status {
      return COLIBRI_OK;
    },
    nullptr,
    [](void*, colibri_candidates*) -> colibri_status { return COLIBRI_OK; },
    nullptr};

inline const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.sampler/1") == 0 ? &sampler : nullptr;
}

constexpr colibri_plugin plugin(const char* id) {
  return {sizeof(colibri_plugin), COLIBRI_ABI_MINOR, id, "1.0.0", nullptr, nullptr, get_interface};
}

}  // namespace good
