// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/gguf/format.h"

#include "plugins/common/format_table.h"
#include "plugins/formats/gguf/model.h"

namespace colibri::gguf {

constexpr colibri_format_1 kFormat = plugin::FormatTable<Model>::table();

}  // namespace colibri::gguf
