// SPDX-License-Identifier: Apache-2.0
// cuda: NVIDIA GPUs. Loads without a driver; probe() of its device interface says what is missing.
#include <cstring>

#include "plugins/cuda/device.h"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

const void* get_interface(const char* id) {
  if (std::strcmp(id, "colibri.kernels/0") == 0) return &kernel_table();
  if (std::strcmp(id, "colibri.device/0") == 0) return &kDeviceTable;
  return nullptr;
}

constexpr colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "cuda", "0.1.0", nullptr, nullptr, get_interface};

}  // namespace
}  // namespace colibri::cuda

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cuda::kPlugin;
}
