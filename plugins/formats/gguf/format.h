// SPDX-License-Identifier: Apache-2.0
// The plugin's table of colibri.format/1.
#pragma once

#include "colibri/format.h"

namespace colibri::gguf {

extern const colibri_format_1 kFormat;

}  // namespace colibri::gguf
