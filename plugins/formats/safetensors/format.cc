// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/format.h"

#include "plugins/common/format_table.h"
#include "plugins/formats/safetensors/checkpoint.h"

namespace colibri::safetensors {

constexpr colibri_format_1 kFormat = plugin::FormatTable<Checkpoint>::table();

}  // namespace colibri::safetensors
