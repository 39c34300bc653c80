// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/usable_devices.h"

#include <algorithm>

namespace colibri::cuda {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string names(std::span<const int> architectures) {
  std::string text;
  for (const int each : architectures)
    text += (text.empty() ? "sm_" : ", sm_") + std::to_string(each);
  return text;
}

std::string names(const std::vector<FoundDevice>& devices) {
  std::string text;
  for (const FoundDevice& each : devices) {
    text += (text.empty() ? "" : ", ") + each.name + " (sm_" + std::to_string(each.major) +
            std::to_string(each.minor) + ")";
  }
  return text;
}

}  // namespace

Result<std::vector<int>> usable_devices(const DriverAnswer& answer,
                                        std::span<const int> architectures) {
  if (answer.driver == 0) {
    return unsupported("no NVIDIA driver on this machine (libcuda.so.1 cannot be loaded)");
  }
  if (answer.driver / 1000 < answer.runtime / 1000) {
    return unsupported("the NVIDIA driver is too old: it is for CUDA " + version(answer.driver) +
                       ", the plugin needs one for CUDA " + version(answer.runtime) + " or newer");
  }
  if (!answer.failure.empty()) {
    return unsupported("the NVIDIA driver gives no devices: " + answer.failure);
  }
  if (answer.devices.empty()) {
    return unsupported(
        "no NVIDIA device is visible (is there one, and does CUDA_VISIBLE_DEVICES "
        "hide it?)");
  }
  std::vector<int> usable;
  for (size_t i = 0; i < answer.devices.size(); ++i) {
    const FoundDevice& device = answer.devices[i];
    const bool runs = std::any_of(architectures.begin(), architectures.end(), [&](int built) {
      return built / 10 == device.major && built % 10 <= device.minor;
    });
    if (runs) usable.push_back(static_cast<int>(i));
  }
  if (!usable.empty()) return usable;
  return unsupported("has code for " + names(architectures) + " only, and here is " +
                     names(answer.devices));
}

}  // namespace colibri::cuda
