// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/colibri/format.h"

#include "plugins/common/format_table.h"
#include "plugins/formats/colibri/model.h"

namespace colibri::colibri_format {

constexpr colibri_format_1 kFormat = plugin::FormatTable<Model>::table();

}  // namespace colibri::colibri_format
