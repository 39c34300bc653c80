// SPDX-License-Identifier: Apache-2.0
// Which tensors a .colibri file gets, and where each of them stands.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/convert/records.h"
#include "runtime/engine/plan.h"

namespace colibri::convert {

// A tensor to be written.
struct Item {
  Entry entry;  // but for the checksum
  const model::Weight* weight = nullptr;
  const engine::Placed* placed = nullptr;  // packed so; null = its rows as they are
};

struct Layout {
  std::vector<Item> items;              // by offset
  uint64_t experts_begin = 0, end = 0;  // the dense section begins behind the head

  // Packed is what one operator reads as a whole in a described layout; of what operators share in
  // parts, rows stay rows. Dense tensors and the bundles of experts begin at pages; inside a bundle
  // tensors stand as in the memory of the expert store, so that a bundle is one read.
  static Layout of(const engine::Plan& plan);
};

}  // namespace colibri::convert
