// SPDX-License-Identifier: Apache-2.0
// A device for tests, made of the CPU: kernels of the CPU in 64 MiB that the host cannot touch. Work
// happens as late as the interface allows, when somebody waits for it. Whoever hands it memory of
// the host is refused, and a host that touches its memory ends with a fault.
#pragma once

#include "colibri/device.h"
#include "colibri/kernels.h"

namespace colibri::device_test {

// colibri.device/0: one device, on which `computing` computes. One to a process.
const colibri_device_0& made_up_device(const colibri_kernels_0& computing);

// colibri.kernels/0 of the same plugin.
colibri_kernels_0 made_up_kernels(const colibri_kernels_0& computing);

}  // namespace colibri::device_test
