// SPDX-License-Identifier: Apache-2.0
// Metadata that nothing here reads.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/config/architecture.h"
#include "runtime/model/source.h"

namespace colibri::model {

// The metadata keys of the model itself (those of config.json for "hf") that neither the
// architecture document nor this runtime reads, in the order of the format. Normal in checkpoints,
// but where to look when results differ.
std::vector<std::string_view> unknown_keys(const ModelSource& source,
                                           const config::Architecture& architecture);

}  // namespace colibri::model
