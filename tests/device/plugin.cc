// SPDX-License-Identifier: Apache-2.0
// The plugin made_up_device: the scalar reference in the memory of the made-up device. Its options
// make it smaller than it is, or poorer.
#include <cstdio>
#include <cstring>

#include "plugins/common/options.h"
#include "plugins/cpu_generic/kernel_table.h"
#include "runtime/base/guard.h"
#include "tests/device/device_memory.h"
#include "tests/device/made_up_device.h"

namespace colibri::device_test {
namespace {

int64_t lacking = 0;  // COLIBRI_OP_* that it does not compute

const colibri_kernels_0 kKernels = [] {
  colibri_kernels_0 table = made_up_kernels(cpu_generic::kKernelTable);
  table.supports = [](const colibri_op_desc* desc, char why_not[128]) {
    if (desc->op != lacking) return cpu_generic::kKernelTable.supports(desc, why_not);
    std::snprintf(why_not, 128, "was told to lack it");
    return 0;
  };
  return table;
}();

colibri_status open(const colibri_host* host, colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_ASSIGN(const int64_t room, plugin::int_option(host, "room_kib"));
    COLIBRI_ASSIGN(const int64_t promised, plugin::int_option(host, "promised_kib"));
    COLIBRI_ASSIGN(lacking, plugin::int_option(host, "lacks"));
    DeviceMemory::instance().limit(static_cast<uint64_t>(room) << 10,
                                   static_cast<uint64_t>(promised) << 10);
    return {};
  });
}

constexpr colibri_plugin kPlugin = {sizeof(colibri_plugin),
                                    COLIBRI_ABI_MINOR,
                                    "made_up_device",
                                    "0.1.0",
                                    open,
                                    nullptr,
                                    [](const char* id) -> const void* {
                                      if (std::strcmp(id, "colibri.kernels/0") == 0)
                                        return &kKernels;
                                      if (std::strcmp(id, "colibri.device/0") == 0) {
                                        return &made_up_device(cpu_generic::kKernelTable);
                                      }
                                      return nullptr;
                                    }};

}  // namespace
}  // namespace colibri::device_test

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::device_test::kPlugin;
}
