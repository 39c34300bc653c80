// SPDX-License-Identifier: Apache-2.0
// The table of colibri.format/1 around a class that reads a model. Header-only; needs plugin_common.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "colibri/format.h"
#include "runtime/base/guard.h"
#include "runtime/base/utf8.h"

namespace colibri::plugin {

// Model has:
//   const char* vocabulary() const;
//   static Status accepts(const colibri_file*);
//   static Result<std::unique_ptr<Model>> open(const colibri_file*);
//   tensors(): a vector of structs {name, codec, rank, shape, file, begin, end}: bytes [begin, end)
//   of the file; row-major and without a checksum, unless the struct has {layout, checksum} too;
//   metadata(): an object with size(), key(i) and find(key, index, value);
//   Result<std::string_view> resource(std::string_view name).
template <typename Model>
class FormatTable {
 public:
  static constexpr colibri_format_1 table() {
    return {sizeof(colibri_format_1),
            accepts,
            open,
            close,
            vocabulary,
            tensor_count,
            tensor,
            metadata,
            metadata_count,
            metadata_key,
            resource};
  }

 private:
  static const Model& of(const void* model) { return *static_cast<const Model*>(model); }

  static int32_t accepts(const colibri_file* files, char why_not[128]) {
    colibri_error error = empty_error();
    if (guard(&error, [&] { return Model::accepts(files); }) == COLIBRI_OK) return 1;
    const std::string_view reason = utf8::truncated(error.text, 127);
    std::memcpy(why_not, reason.data(), reason.size());
    why_not[reason.size()] = '\0';
    return 0;
  }

  static colibri_status open(const colibri_file* files, void** model, colibri_error* error) {
    return guard(error, [&]() -> Status {
      COLIBRI_ASSIGN(std::unique_ptr<Model> opened, Model::open(files));
      *model = opened.release();
      return {};
    });
  }

  static void close(void* model) { delete static_cast<Model*>(model); }

  static const char* vocabulary(const void* model) { return of(model).vocabulary(); }

  static uint64_t tensor_count(const void* model) { return of(model).tensors().size(); }

  static colibri_status tensor(const void* model, uint64_t i, colibri_tensor_entry* entry) {
    if (i >= of(model).tensors().size()) return COLIBRI_NOT_FOUND;
    const auto& from = of(model).tensors()[i];
    entry->name = to_c(from.name);
    entry->codec = from.codec;
    entry->layout = 0;
    entry->checksum = 0;
    if constexpr (requires { from.layout; }) {
      entry->layout = from.layout;
      entry->checksum = from.checksum;
    }
    entry->rank = from.rank;
    std::copy(from.shape.begin(), from.shape.end(), entry->shape);
    entry->file = from.file;
    entry->offset = from.begin;
    entry->bytes = from.end - from.begin;
    return COLIBRI_OK;
  }

  static colibri_status metadata(const void* model, colibri_str key, uint64_t index,
                                 colibri_value* value) {
    return of(model).metadata().find(from_c(key), index, value);
  }

  static uint64_t metadata_count(const void* model) { return of(model).metadata().size(); }

  static colibri_status metadata_key(const void* model, uint64_t i, colibri_str* key) {
    if (i >= of(model).metadata().size()) return COLIBRI_NOT_FOUND;
    *key = to_c(of(model).metadata().key(i));
    return COLIBRI_OK;
  }

  static colibri_status resource(const void* model, colibri_str name, colibri_str* bytes,
                                 colibri_error* error) {
    return guard(error, [&]() -> Status {
      // The interface calls this in set-up only, so the cache behind the const model needs no lock.
      auto* cached = static_cast<Model*>(const_cast<void*>(model));
      COLIBRI_ASSIGN(const std::string_view found, cached->resource(from_c(name)));
      *bytes = to_c(found);
      return {};
    });
  }
};

}  // namespace colibri::plugin
