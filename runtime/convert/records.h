// SPDX-License-Identifier: Apache-2.0
// The small sections of a .colibri file as bytes (docs/format.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/model/source.h"

namespace colibri::convert {

// Appends little-endian values, and strings as GGUF writes them: u64 length, bytes.
class RecordWriter {
 public:
  void u32(uint32_t value) { append(&value, sizeof(value)); }
  void u64(uint64_t value) { append(&value, sizeof(value)); }
  void string(std::string_view text) {
    u64(text.size());
    append(text.data(), text.size());
  }
  void append(const void* bytes, size_t n) { bytes_.append(static_cast<const char*>(bytes), n); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// A tensor of the file.
struct Entry {
  std::string name;
  uint32_t codec = 0, layout = 0;
  std::vector<int64_t> shape;
  uint64_t offset = 0, bytes = 0, checksum = 0;
};

// The metadata of a source and what the file says of itself, as a GGUF file (version 3) without
// tensors. Left out: values that are null, and lists of anything but one kind of number or text.
std::string metadata_section(const model::ModelSource& source, std::string_view architecture);

// Every resource of the source that a tokenizer or a chat template may want to see.
Result<std::string> resource_section(const model::ModelSource& source);

std::string directory_section(const std::vector<Entry>& entries);

}  // namespace colibri::convert
