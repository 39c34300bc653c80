// SPDX-License-Identifier: Apache-2.0
// Names of files that are parts of one model: "NAME-00002-of-00003.gguf".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace colibri {

struct PartName {
  std::string stem;       // "NAME"
  uint32_t part = 0;      // from 1 to parts
  uint32_t parts = 0;     // at most 99999
  std::string extension;  // ".gguf"

  // The file name of another part of the same model.
  std::string of(uint32_t other) const;
};

// The parts of such a name, five digits each; nullopt if it is another name.
std::optional<PartName> read_part_name(std::string_view file_name);

}  // namespace colibri
