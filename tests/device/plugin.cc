// SPDX-License-Identifier: Apache-2.0
// The plugin PLUGIN_ID: the scalar reference in the memory of the made-up device. Its options make it
// smaller than it is, or poorer, or a part of the host.
#include <cstdio>
#include <cstring>

#include "plugins/common/options.h"
#include "plugins/cpu_generic/kernel_table.h"
#include "runtime/base/guard.h"
#include "tests/device/device_memory.h"
#include "tests/device/made_up_device.h"

namespace colibri::device_test {
namespace {

int64_t lacking = 0;       // COLIBRI_OP_* that it does not compute
bool in_the_host = false;  // whether it says that its memory is the host's

const colibri_kernels_0 kKernels = [] {
  colibri_kernels_0 table = made_up_kernels(cpu_generic::kKernelTable);
  table.numerics = PLUGIN_NUMERICS;
  table.supports = [](const colibri_op_desc* desc, char why_not[128]) {
    if (desc->op != lacking) return cpu_generic::kKernelTable.supports(desc, why_not);
    std::snprintf(why_not, 128, "was told to lack it");
    return 0;
  };
  return table;
}();

const colibri_device_0& device() {
  static const colibri_device_0& made = made_up_device(cpu_generic::kKernelTable);
  static const colibri_device_0 told = [] {
    colibri_device_0 table = made;
    table.info = [](uint32_t number, colibri_device_info* info, colibri_error* error) {
      info->shares_memory = in_the_host ? 1 : 0;
      return made.info(number, info, error);
    };
    return table;
  }();
  return told;
}

colibri_status open(const colibri_host* host, colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_ASSIGN(const int64_t room, plugin::int_option(host, "room_kib"));
    COLIBRI_ASSIGN(const int64_t promised, plugin::int_option(host, "promised_kib"));
    COLIBRI_ASSIGN(lacking, plugin::int_option(host, "lacks"));
    COLIBRI_ASSIGN(const int64_t shares, plugin::int_option(host, "shares_memory"));
    in_the_host = shares != 0;
    DeviceMemory::instance().limit(static_cast<uint64_t>(room) << 10,
                                   static_cast<uint64_t>(promised) << 10);
    return {};
  });
}

constexpr colibri_plugin kPlugin = {sizeof(colibri_plugin),
                                    COLIBRI_ABI_MINOR,
                                    PLUGIN_ID,
                                    "0.1.0",
                                    open,
                                    nullptr,
                                    [](const char* id) -> const void* {
                                      if (std::strcmp(id, "colibri.kernels/0") == 0)
                                        return &kKernels;
                                      if (std::strcmp(id, "colibri.device/0") == 0) {
                                        return &device();
                                      }
                                      return nullptr;
                                    }};

}  // namespace
}  // namespace colibri::device_test

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::device_test::kPlugin;
}
