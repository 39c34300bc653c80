// SPDX-License-Identifier: Apache-2.0
// The files of a model in memory, as a format plugin sees them.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "colibri/format.h"
#include "runtime/base/status.h"

namespace colibri::fuzz {

class MemoryFiles {
 public:
  using Files =
      std::vector<std::pair<std::string_view, std::string_view>>;  // name, bytes; sorted by name

  explicit MemoryFiles(Files files) : files_(std::move(files)) {
    table_.struct_size = sizeof(table_);
    table_.count = static_cast<uint32_t>(files_.size());
    table_.name = [](const colibri_file* table, uint32_t i) { return to_c(of(table)[i].first); };
    table_.size = [](const colibri_file* table, uint32_t i) -> uint64_t {
      return of(table)[i].second.size();
    };
    table_.read = [](const colibri_file* table, uint32_t i, uint64_t offset, void* to, uint64_t n,
                     colibri_error* error) -> colibri_status {
      const std::string_view bytes = of(table)[i].second;
      if (offset > bytes.size() || n > bytes.size() - offset) {
        return to_c(io_error("out of range"), error);
      }
      if (n > 0) std::memcpy(to, bytes.data() + offset, n);
      return COLIBRI_OK;
    };
    table_.host = &files_;
  }
  MemoryFiles(const MemoryFiles&) = delete;
  MemoryFiles& operator=(const MemoryFiles&) = delete;

  const colibri_file* table() const { return &table_; }

 private:
  static const Files& of(const colibri_file* table) {
    return *static_cast<const Files*>(table->host);
  }

  Files files_;
  colibri_file table_ = {};
};

// Opens the files and asks for everything that a format can tell.
inline void describe(const colibri_format_1& format, const colibri_file* files) {
  char why_not[128] = {};
  static_cast<void>(format.accepts(files, why_not));
  colibri_error error = empty_error();
  void* model = nullptr;
  if (format.open(files, &model, &error) != COLIBRI_OK) return;
  for (uint64_t i = 0; i < format.tensor_count(model); ++i) {
    colibri_tensor_entry entry = {};
    entry.struct_size = sizeof(entry);
    if (format.tensor(model, i, &entry) != COLIBRI_OK) std::abort();
    // Extents were checked against the file.
    if (entry.offset + entry.bytes > files->size(files, entry.file)) std::abort();
  }
  for (uint64_t i = 0; i < format.metadata_count(model); ++i) {
    colibri_str key = {};
    colibri_value value = {};
    value.struct_size = sizeof(value);
    if (format.metadata_key(model, i, &key) != COLIBRI_OK) std::abort();
    if (format.metadata(model, key, COLIBRI_WHOLE, &value) != COLIBRI_OK) std::abort();
    const uint64_t elements = value.kind == COLIBRI_VALUE_ARRAY ? value.n : 0;
    for (uint64_t element = 0; element < elements; ++element) {
      if (format.metadata(model, key, element, &value) != COLIBRI_OK) std::abort();
    }
  }
  format.close(model);
}

}  // namespace colibri::fuzz
