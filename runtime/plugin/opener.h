// SPDX-License-Identifier: Apache-2.0
// Opens plugins: one that several models use at the same time is open once, and closed after the
// last of them.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/status.h"
#include "runtime/plugin/plugin.h"

namespace colibri::plugin {

// Loads (unless `table` is that of a plugin linked into the program), checks table and interfaces
// against the manifest, and opens. The first failure is the result. Thread-safe.
Result<std::shared_ptr<const Plugin>> open_plugin(const Manifest& manifest, const std::string& file,
                                                  const colibri_plugin* table, Options options);

}  // namespace colibri::plugin
