// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/gguf/parts.h"

#include <optional>
#include <set>
#include <string>

#include "plugins/common/format_files.h"
#include "runtime/base/part_name.h"
#include "runtime/base/utf8.h"

namespace colibri::gguf {

std::vector<uint32_t> gguf_files(const colibri_file* files) {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < files->count; ++i) {
    if (files->count == 1 || from_c(files->name(files, i)).ends_with(".gguf")) found.push_back(i);
  }
  return found;
}

Result<std::vector<uint32_t>> find_parts(const colibri_file* files) {
  const std::vector<uint32_t> found = gguf_files(files);
  if (found.empty()) return not_found("there is no .gguf file");
  // The first part of each model, by its name.
  std::set<std::string> models;
  for (const uint32_t file : found) {
    const std::string name = plugin::file_name(files, file);
    const std::optional<PartName> part = read_part_name(name);
    models.insert(part ? part->of(1) : name);
  }
  if (models.size() > 1) {
    return invalid_argument(
        "there are " + std::to_string(models.size()) + " GGUF models, " +
        utf8::printable(*models.begin()) + " and " + utf8::printable(*std::next(models.begin())) +
        (models.size() > 2 ? " among them" : "") + "; give the path of the file that is meant");
  }
  const std::optional<PartName> first = read_part_name(*models.begin());
  if (!first) return found;
  if (found.size() < first->parts) {
    for (uint32_t part = 1; part <= first->parts; ++part) {
      if (!plugin::find_file(files, first->of(part))) {
        return not_found("the part " + utf8::printable(first->of(part)) +
                         " is missing; there are " + std::to_string(found.size()) + " of " +
                         std::to_string(first->parts) + ", a download may be unfinished");
      }
    }
  }
  return found;  // files are sorted by name, and so are parts
}

}  // namespace colibri::gguf
