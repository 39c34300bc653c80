// SPDX-License-Identifier: Apache-2.0
// The closing line of a run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/engine/generator.h"
#include "runtime/experts/store.h"

namespace colibri::cli {

// "24 tokens (end of text), prompt 312 tokens at 1530.2 tokens/s, ..."
// store: null for a model without experts.
std::string statistics_line(const engine::GenerateResult& result, const experts::Store* store);
nlohmann::ordered_json statistics_json(const engine::GenerateResult& result,
                                       const experts::Store* store);

}  // namespace colibri::cli
