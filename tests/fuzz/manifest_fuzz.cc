// SPDX-License-Identifier: Apache-2.0
// A plugin file: its ELF structure and, by itself and inside it, its manifest.
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/plugin/elf_note.h"
#include "runtime/plugin/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace colibri;
  using namespace colibri::plugin;
  const auto read = [&](uint64_t offset, void* to, uint64_t n) -> Status {
    if (offset > size || n > size - offset) __builtin_trap();  // the reader's promise
    if (n > 0) std::memcpy(to, data + offset, n);
    return {};
  };
  const Result<ElfNote> note = read_elf_note(size, read);
  if (note.ok()) static_cast<void>(parse_manifest(note->text));
  static_cast<void>(parse_manifest({reinterpret_cast<const char*>(data), size}));
  return 0;
}
