// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/colibri/format.h"

#include "plugins/common/format_table.h"
#include "plugins/formats/colibri/model.h"

namespace colibri::colibri_format {

const colibri_format_1* format_table() {
  static constexpr colibri_format_1 kTable = plugin::FormatTable<Model>::table();
  return &kTable;
}

}  // namespace colibri::colibri_format
