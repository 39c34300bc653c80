// SPDX-License-Identifier: Apache-2.0
// What the parts of an architecture document must say about each other.
#pragma once

#include "runtime/config/architecture.h"

namespace colibri::config {

// Reports, for every vocabulary: references to names that `dims` does not give or that are of
// another type, names that nothing refers to, and roles and names that the kind of attention and
// the parts of `tensors` need or have no use for.
void check_architecture(const Architecture& architecture, Problems& problems);

}  // namespace colibri::config
