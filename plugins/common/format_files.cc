// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/format_files.h"

namespace colibri::plugin {

std::string file_name(const colibri_file* files, uint32_t file) {
  return std::string(from_c(files->name(files, file)));
}

std::optional<uint32_t> find_file(const colibri_file* files, std::string_view name) {
  for (uint32_t i = 0; i < files->count; ++i) {
    if (from_c(files->name(files, i)) == name) return i;
  }
  return std::nullopt;
}

Status read_bytes(const colibri_file* files, uint32_t file, uint64_t offset, void* to, uint64_t n) {
  colibri_error error = empty_error();
  const colibri_status code = files->read(files, file, offset, to, n, &error);
  return from_c(code, error, "reading " + file_name(files, file));
}

Result<std::string> read_whole(const colibri_file* files, uint32_t file, uint64_t most) {
  const uint64_t size = files->size(files, file);
  if (size > most) {
    return corrupt_data(file_name(files, file) + ": has " + std::to_string(size) +
                        " bytes; at most " + std::to_string(most) + " are read");
  }
  std::string bytes(size, '\0');
  COLIBRI_TRY(read_bytes(files, file, 0, bytes.data(), size));
  return bytes;
}

}  // namespace colibri::plugin
