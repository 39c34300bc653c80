// SPDX-License-Identifier: Apache-2.0
// Files of a model by name, on top of colibri_file: for format plugins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "colibri/format.h"
#include "runtime/base/status.h"

namespace colibri::plugin {

std::string file_name(const colibri_file* files, uint32_t file);
std::optional<uint32_t> find_file(const colibri_file* files, std::string_view name);
Status read_bytes(const colibri_file* files, uint32_t file, uint64_t offset, void* to, uint64_t n);
// A whole file of at most `most` bytes.
Result<std::string> read_whole(const colibri_file* files, uint32_t file, uint64_t most);

}  // namespace colibri::plugin
