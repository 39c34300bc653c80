// SPDX-License-Identifier: Apache-2.0
// Writes a model as a .colibri file (docs/format.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "runtime/base/status.h"
#include "runtime/engine/plan.h"

namespace colibri::convert {

using Progress = std::function<void(uint64_t done_bytes, uint64_t all_bytes)>;

// Writes the plan's model to `path`, packed as the plan's operators want it, on the plan's threads, in
// memory of the largest tensor (or 32 MiB).
// The work goes on in `path`.partial, which gets its name when it is whole; what is there of an
// earlier, interrupted run of the same conversion is kept, and that of another one is refused. Refuses
// a path that exists, a model that is a .colibri file already, and numbers that are not finite.
Status convert(const engine::Plan& plan, const std::filesystem::path& path,
               const Progress& progress);

}  // namespace colibri::convert
