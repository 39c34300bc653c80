// SPDX-License-Identifier: Apache-2.0
// Which of a machine's GPUs the plugin can use, and why not the others: what the driver answers,
// judged. Needs no driver and no CUDA, so that every answer can be tested.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::cuda {

struct FoundDevice {
  std::string name;  // "NVIDIA H200"
  int major, minor;  // compute capability
};

struct DriverAnswer {
  int driver = 0;       // newest CUDA version that the driver knows, 13000 = 13.0; 0 = no driver
  int runtime = 0;      // CUDA version that the plugin was built with
  std::string failure;  // why the devices could not be counted; empty = they were
  std::vector<FoundDevice> devices;
};

// Numbers of the devices that one of the architectures (90 = sm_90) has code for: code of a
// compute capability runs on those of the same major and the same or a higher minor number. Errors:
// COLIBRI_UNSUPPORTED with the reason why there is none. [any]
Result<std::vector<int>> usable_devices(const DriverAnswer& answer,
                                        std::span<const int> architectures);

}  // namespace colibri::cuda
