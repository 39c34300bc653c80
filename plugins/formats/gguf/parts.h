// SPDX-License-Identifier: Apache-2.0
// Which files of a folder are the parts of a GGUF model.
#pragma once

#include <cstdint>
#include <vector>

#include "colibri/format.h"
#include "runtime/base/status.h"

namespace colibri::gguf {

// Files whose names end in .gguf; a file that was given alone may have any name.
std::vector<uint32_t> gguf_files(const colibri_file* files);

// The files of the one model that is there, in the order of its parts. Refused: no GGUF file, more
// than one model, parts that are missing.
Result<std::vector<uint32_t>> find_parts(const colibri_file* files);

}  // namespace colibri::gguf
