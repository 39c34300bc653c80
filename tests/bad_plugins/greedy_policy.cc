// SPDX-License-Identifier: Apache-2.0
// A cache policy that chooses victims which are not evictable: `plugins check` finds it.
#include "colibri/cache_policy.h"

static constexpr colibri_cache_policy_1 policy = {
    sizeof(colibri_cache_policy_1),
    [](const colibri_cache_shape*, const colibri_host*) -> uint64_t { return 0; },
    [](const colibri_cache_shape*, const colibri_host*, void*, colibri_error*) -> colibri_status {
      return COLIBRI_OK;
    },
    [](void*, uint64_t, const uint32_t*, const uint8_t*, uint32_t, int32_t) {},
    [](void*, uint32_t) {},
    [](void*, uint32_t, const uint64_t*, uint32_t n, uint32_t* keys) {
      for (uint32_t i = 0; i < n; ++i) keys[i] = i;
      return n;
    },
    [](void*, uint32_t) {},
    [](void*, uint32_t, uint32_t) -> colibri_status { return COLIBRI_OK; }};

static constexpr colibri_plugin table = {sizeof(colibri_plugin),
                                         COLIBRI_ABI_MINOR,
                                         "greedy_policy",
                                         "1.0.0",
                                         nullptr,
                                         nullptr,
                                         [](const char*) -> const void* { return &policy; }};

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
