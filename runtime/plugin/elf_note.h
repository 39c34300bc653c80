// SPDX-License-Identifier: Apache-2.0
// Reads the manifest out of a plugin file without loading it: an ELF64 note of the owner COLIBRI.
// The file is hostile: every offset and size in it is checked, and what is read is bounded.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/function_ref.h"
#include "runtime/base/status.h"

namespace colibri::plugin {

struct ElfNote {
  std::string architecture;  // of the ELF header, as `uname -m` names it; "machine 8" for one
                             // without a name here
  std::string text;          // the note's description: the manifest
};

// Reads n bytes at an offset that lie inside the file.
using ReadAt = FunctionRef<Status(uint64_t offset, void* to, uint64_t n)>;

// Errors: COLIBRI_CORRUPT_DATA for a file that is no 64-bit little-endian shared object, is
// damaged, or has two manifests; COLIBRI_NOT_FOUND for one without a manifest; those of read. [any]
Result<ElfNote> read_elf_note(uint64_t file_size, ReadAt read);

}  // namespace colibri::plugin
