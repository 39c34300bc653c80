// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/format.h"

#include "plugins/common/format_table.h"
#include "plugins/formats/safetensors/checkpoint.h"

namespace colibri::safetensors {

const colibri_format_1* format_table() {
  static constexpr colibri_format_1 kTable = plugin::FormatTable<Checkpoint>::table();
  return &kTable;
}

}  // namespace colibri::safetensors
