// SPDX-License-Identifier: Apache-2.0
// .colibri files of strangers. Sections are made sound to their checksums, so that what is in them is
// read: the input is the lengths of metadata and resources (u16 each), then both, then the directory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "plugins/formats/colibri/format.h"
#include "runtime/base/container.h"
#include "tests/bad_models/container_file.h"
#include "tests/fuzz/memory_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with(colibri::container::kMagic)) {  // the file itself
    const colibri::fuzz::MemoryFiles files({{"m.colibri", bytes}});
    colibri::fuzz::describe(colibri::colibri_format::kFormat, files.table());
    return 0;
  }
  if (size < 4) return 0;
  uint16_t lengths[2];
  std::memcpy(lengths, data, sizeof(lengths));
  std::string_view rest = bytes.substr(4);
  colibri::testing::ContainerFile file;
  file.raw_metadata = rest.substr(0, lengths[0]);
  rest.remove_prefix(std::min<size_t>(lengths[0], rest.size()));
  file.raw_resources = rest.substr(0, lengths[1]);
  rest.remove_prefix(std::min<size_t>(lengths[1], rest.size()));
  file.raw_directory = rest;
  file.tensor("room", {1024});
  const std::string made = file.bytes();
  const colibri::fuzz::MemoryFiles files({{"m.colibri", made}});
  colibri::fuzz::describe(colibri::colibri_format::kFormat, files.table());
  return 0;
}
