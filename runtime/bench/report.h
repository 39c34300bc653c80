// SPDX-License-Identifier: Apache-2.0
// A report as text for people and as JSON for programs (docs/benchmarks.md names its keys).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/bench/bench.h"

namespace colibri::bench {

std::string text(const Report& report);
nlohmann::ordered_json json(const Report& report);

}  // namespace colibri::bench
