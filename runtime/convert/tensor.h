// SPDX-License-Identifier: Apache-2.0
// A tensor of a .colibri file: made from the source, and looked at.
#pragma once

#include <cstddef>

#include "runtime/base/status.h"
#include "runtime/convert/layout.h"
#include "runtime/engine/plan.h"

namespace colibri::convert {

// Reads item.weight and puts item.entry.bytes to `to`. staging: engine::staging_bytes of the plan.
// Refuses numbers that are not finite. [worker]
Status make_tensor(const engine::Plan& plan, const Item& item, std::byte* to, std::byte* staging);

// Whether the bytes of a file's tensor, in whatever layout, hold only finite numbers (of quantised
// blocks: finite scales). COLIBRI_CORRUPT_DATA otherwise, naming the tensor.
Status check_finite(const model::TensorEntry& tensor, const std::byte* bytes);

}  // namespace colibri::convert
