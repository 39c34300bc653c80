// SPDX-License-Identifier: Apache-2.0
// colibri.device/0 over the CUDA runtime.
#pragma once

#include "colibri/device.h"

namespace colibri::cuda {

extern const colibri_device_0 kDeviceTable;

}  // namespace colibri::cuda
