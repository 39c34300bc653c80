// SPDX-License-Identifier: Apache-2.0
// A plugin whose device is made of the CPU: the kernels of plugins/cuda on fibers, in the memory of
// the made-up device.
#include <cstring>

#include "tests/cuda_shim/on_cpu.h"
#include "tests/device/made_up_device.h"

namespace colibri::cuda {
namespace {

const colibri_kernels_0& on_fibers() {
  static const colibri_kernels_0 table = table_on_cpu();
  return table;
}

constexpr colibri_plugin kPlugin = {sizeof(colibri_plugin),
                                    COLIBRI_ABI_MINOR,
                                    "device_on_cpu",
                                    "0.1.0",
                                    nullptr,
                                    nullptr,
                                    [](const char* id) -> const void* {
                                      static const colibri_kernels_0 kernels =
                                          device_test::made_up_kernels(on_fibers());
                                      if (std::strcmp(id, "colibri.kernels/0") == 0)
                                        return &kernels;
                                      if (std::strcmp(id, "colibri.device/0") == 0)
                                        return &device_test::made_up_device(on_fibers());
                                      return nullptr;
                                    }};

}  // namespace
}  // namespace colibri::cuda

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cuda::kPlugin;
}
