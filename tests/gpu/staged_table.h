// SPDX-License-Identifier: Apache-2.0
// A device's kernels as a table of the CPU: a call copies what it needs to the device, runs there,
// and copies back what was written. So that a device is asked the same questions as every plugin.
#pragma once

#include "colibri/device.h"
#include "colibri/kernels.h"

namespace colibri::gpu_check {

// The plugin's tables, on its device 0. Both must live as long as the table is used; one device to a
// process. Thread-safe: calls take turns. [setup]
colibri_kernels_0 staged_table(const colibri_kernels_0& kernels, const colibri_device_0& device);

}  // namespace colibri::gpu_check
