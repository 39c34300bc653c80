// SPDX-License-Identifier: Apache-2.0
// GGUF files of strangers: what the format tells of them, and the tokenizer's part of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/common/gguf_metadata.h"
#include "plugins/formats/gguf/format.h"
#include "plugins/formats/gguf/model.h"
#include "tests/fuzz/memory_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const colibri::fuzz::MemoryFiles files({{"m.gguf", bytes}});
  colibri::fuzz::describe(colibri::gguf::kFormat, files.table());
  const auto model = colibri::gguf::Model::open(files.table());
  if (!model.ok()) return 0;
  const auto tokenizer = (*model)->resource("tokenizer.gguf");
  // A file that was made here must be one that can be read.
  if (tokenizer.ok() && !colibri::gguf::Metadata::read_file(*tokenizer).ok()) std::abort();
  return 0;
}
