// SPDX-License-Identifier: Apache-2.0
// Printing the values in force and where they came from.
#pragma once

#include <string>

#include "runtime/config/value.h"

namespace colibri::config {

// The document as YAML that reads back to the same values; behind each value stands its origin as a
// comment: "# plc.yaml:4:16", "# default", "# --set", "# plc.yaml:4:16, env MODELS".
std::string print_with_origins(const Value& document);

}  // namespace colibri::config
