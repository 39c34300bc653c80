// SPDX-License-Identifier: Apache-2.0
// What is in a folder. Not std::filesystem's iterator: libstdc++ ends the process where that one
// gets no memory.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/base/status.h"

namespace colibri {

constexpr size_t kMostEntries = 65536;

// The paths of a folder's entries of every kind, sorted. COLIBRI_NOT_FOUND if there is no such
// folder, COLIBRI_IO if it cannot be listed, COLIBRI_INVALID_ARGUMENT if it has more than
// kMostEntries, COLIBRI_OUT_OF_MEMORY if its paths find no room. [any]
Result<std::vector<std::filesystem::path>> list_folder(const std::filesystem::path& folder);

}  // namespace colibri
