// SPDX-License-Identifier: Apache-2.0
// The table of the kind Pipeline.
#pragma once

#include "runtime/config/schema.h"

namespace colibri::config {

extern const Table kPipelineTable;

}  // namespace colibri::config
