// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/format.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "plugins/common/guard.h"
#include "plugins/formats/safetensors/checkpoint.h"
#include "runtime/base/utf8.h"

namespace colibri::safetensors {
namespace {

using plugin::guard;

Checkpoint* of(void* model) {
  return static_cast<Checkpoint*>(model);
}
const Checkpoint* of(const void* model) {
  return static_cast<const Checkpoint*>(model);
}

int32_t accepts(const colibri_file* files, char why_not[128]) {
  colibri_error error = empty_error();
  const colibri_status code = guard(&error, [&] { return Checkpoint::accepts(files); });
  if (code == COLIBRI_OK) return 1;
  const std::string_view reason = utf8::truncated(error.text, 127);
  std::memcpy(why_not, reason.data(), reason.size());
  why_not[reason.size()] = '\0';
  return 0;
}

colibri_status open(const colibri_file* files, void** model, colibri_error* error) {
  return guard(error, [&]() -> Status {
    COLIBRI_ASSIGN(std::unique_ptr<Checkpoint> checkpoint, Checkpoint::open(files));
    *model = checkpoint.release();
    return {};
  });
}

void close(void* model) {
  delete of(model);
}

const char* vocabulary(const void*) {
  return "hf";
}

uint64_t tensor_count(const void* model) {
  return of(model)->tensors().size();
}

colibri_status tensor(const void* model, uint64_t i, colibri_tensor_entry* entry) {
  if (i >= of(model)->tensors().size()) return COLIBRI_NOT_FOUND;
  const Tensor& from = of(model)->tensors()[i];
  entry->name = to_c(from.name);
  entry->codec = from.codec;
  entry->layout = 0;
  entry->rank = from.rank;
  std::copy(from.shape.begin(), from.shape.end(), entry->shape);
  entry->file = from.file;
  entry->offset = from.begin;
  entry->bytes = from.end - from.begin;
  entry->checksum = 0;
  return COLIBRI_OK;
}

colibri_status metadata(const void* model, colibri_str key, uint64_t index, colibri_value* value) {
  return of(model)->metadata().find(from_c(key), index, value);
}

uint64_t metadata_count(const void* model) {
  return of(model)->metadata().size();
}

colibri_status metadata_key(const void* model, uint64_t i, colibri_str* key) {
  if (i >= of(model)->metadata().size()) return COLIBRI_NOT_FOUND;
  *key = to_c(of(model)->metadata().key(i));
  return COLIBRI_OK;
}

colibri_status resource(const void* model, colibri_str name, colibri_str* bytes,
                        colibri_error* error) {
  return guard(error, [&]() -> Status {
    // The interface calls this in set-up only, so the cache behind the const model needs no lock.
    Checkpoint* checkpoint = of(const_cast<void*>(model));
    COLIBRI_ASSIGN(const std::string_view found, checkpoint->resource(from_c(name)));
    *bytes = to_c(found);
    return {};
  });
}

constexpr colibri_format_1 kTable = {
    sizeof(kTable), accepts,  open,           close,        vocabulary, tensor_count,
    tensor,         metadata, metadata_count, metadata_key, resource,
};

}  // namespace

const colibri_format_1* format_table() {
  return &kTable;
}

}  // namespace colibri::safetensors
