// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "colibri/format.h"

namespace colibri::colibri_format {

const colibri_format_1* format_table();

}  // namespace colibri::colibri_format
