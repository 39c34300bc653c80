// SPDX-License-Identifier: Apache-2.0
// Kernels that say yes to every operator. KERNELS_DRAFT, KERNELS_NUMERICS and KERNELS_ATTRIBUTES
// (bytes of the attributes of norm that this plugin knows) make one of three faults.
#include "colibri/kernels.h"

static constexpr uint32_t attribute_size[COLIBRI_OP_COUNT] = {0, 0, KERNELS_ATTRIBUTES};

static constexpr colibri_kernels_0 kernels = {
    sizeof(colibri_kernels_0),
    KERNELS_DRAFT,
    KERNELS_NUMERICS,
    [](const colibri_op_desc*, char*) -> int32_t { return 1; },
    [](const colibri_op_desc*, uint32_t, colibri_layout*, uint64_t*,
       colibri_error*) -> colibri_status { return COLIBRI_OK; },
    [](const colibri_layout*, const colibri_tensor*, void*, int64_t) -> colibri_status {
      return COLIBRI_OK;
    },
    [](const colibri_op_desc*, const colibri_host*, void*, colibri_op_info*,
       colibri_error*) -> colibri_status { return COLIBRI_OK; },
    [](const void*, const void*) -> int64_t { return 1; },
    [](const void*, const void*, int64_t, int64_t, void*) -> colibri_status { return COLIBRI_OK; },
    attribute_size};

static constexpr colibri_plugin table = {sizeof(colibri_plugin),
                                         COLIBRI_ABI_MINOR,
                                         KERNELS_ID,
                                         "1.0.0",
                                         nullptr,
                                         nullptr,
                                         [](const char*) -> const void* { return &kernels; }};

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &table;
}
