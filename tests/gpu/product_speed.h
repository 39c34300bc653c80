// SPDX-License-Identifier: Apache-2.0
// How fast a device multiplies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "colibri/device.h"
#include "colibri/kernels.h"
#include "runtime/base/status.h"

namespace colibri::gpu_check {

struct ProductSpeed {
  std::string codec;
  int64_t rows = 0;       // of activations
  double seconds = 0;     // a product, of many in a row on weights that no cache holds
  double bytes = 0;       // of its weight
  double operations = 0;  // two for each number of the weight and row
  bool integers = false;  // whether its products are of int8
};

struct Speed {
  double copy_rate = 0;  // bytes read and written each second by a copy within the device
  std::vector<ProductSpeed> products;
};

// Products of [4096, 4096] weights with 1, 8, 64 and 512 rows on device 0, for every codec that the
// kernels offer; needs 0.6 GiB there. [setup]
Result<Speed> measure_products(const colibri_kernels_0& kernels, const colibri_device_0& device);

}  // namespace colibri::gpu_check
