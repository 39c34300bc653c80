// SPDX-License-Identifier: Apache-2.0
// model.safetensors of strangers.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugins/formats/safetensors/format.h"
#include "tests/fuzz/memory_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view weights(reinterpret_cast<const char*>(data), size);
  const colibri::fuzz::MemoryFiles files({{"config.json", "{}"}, {"model.safetensors", weights}});
  colibri::fuzz::describe(colibri::safetensors::kFormat, files.table());
  return 0;
}
