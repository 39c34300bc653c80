// SPDX-License-Identifier: Apache-2.0
// Usage files: how often each expert was asked for. The cache policy "pinned" takes one as its hot
// list; docs/cache-policies.md describes the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/experts/routing_shape.h"

namespace colibri::experts {

// uses: per key. Experts that were never used are left out; most used first, equal ones by key.
std::string usage_text(const RoutingShape& shape, std::span<const uint64_t> uses);

}  // namespace colibri::experts
