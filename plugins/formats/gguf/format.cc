// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/gguf/format.h"

#include "plugins/common/format_table.h"
#include "plugins/formats/gguf/model.h"

namespace colibri::gguf {

const colibri_format_1* format_table() {
  static constexpr colibri_format_1 kTable = plugin::FormatTable<Model>::table();
  return &kTable;
}

}  // namespace colibri::gguf
