// SPDX-License-Identifier: Apache-2.0
// Part of the test program, not a test of its own.
#include <algorithm>
#include <iterator>

#include "runtime/base/status.h"
#include "runtime/model/codecs.h"
#include "runtime/model/fake_format.h"

namespace colibri::model {
namespace {

FakeFormat* current = nullptr;

const FakeFormat& of(const void* model) {
  return *static_cast<const FakeFormat*>(model);
}

void set(const FakeFormat::Scalar& from, colibri_value* value) {
  value->kind = static_cast<uint32_t>(from.index());  // in the order of COLIBRI_VALUE_*
  if (const bool* flag = std::get_if<bool>(&from)) value->i = *flag ? 1 : 0;
  if (const int64_t* integer = std::get_if<int64_t>(&from)) value->i = *integer;
  if (const double* number = std::get_if<double>(&from)) value->f = *number;
  if (const std::string* text = std::get_if<std::string>(&from)) value->s = to_c(*text);
}

colibri_status tensor(const void* model, uint64_t i, colibri_tensor_entry* entry) {
  const FakeFormat::Tensor& from = of(model).tensors[i];
  entry->name = to_c(from.name);
  entry->codec = from.codec;
  entry->layout = from.layout;
  entry->rank = static_cast<uint32_t>(from.shape.size());
  std::copy_n(from.shape.begin(), std::min<size_t>(from.shape.size(), 4), entry->shape);
  entry->file = from.file;
  entry->offset = from.offset;
  entry->bytes = from.bytes;
  return COLIBRI_OK;
}

colibri_status metadata(const void* model, colibri_str key, uint64_t index, colibri_value* value) {
  const std::string name(from_c(key));
  if (const auto list = of(model).lists.find(name); list != of(model).lists.end()) {
    if (index == COLIBRI_WHOLE) {
      value->kind = COLIBRI_VALUE_ARRAY;
      value->n = list->second.size();
      return COLIBRI_OK;
    }
    if (index >= list->second.size()) return COLIBRI_NOT_FOUND;
    set(list->second[index], value);
    return COLIBRI_OK;
  }
  const auto found = of(model).values.find(name);
  if (found == of(model).values.end() || index != COLIBRI_WHOLE) return COLIBRI_NOT_FOUND;
  set(found->second, value);
  return COLIBRI_OK;
}

colibri_status metadata_key(const void* model, uint64_t i, colibri_str* key) {
  *key = to_c(std::next(of(model).values.begin(), static_cast<ptrdiff_t>(i))->first);
  return COLIBRI_OK;
}

constexpr colibri_format_1 kTable = {
    sizeof(kTable),
    [](const colibri_file*, char*) -> int32_t { return 1; },
    [](const colibri_file*, void** model, colibri_error*) -> colibri_status {
      *model = current;
      return COLIBRI_OK;
    },
    [](void*) {},
    [](const void* model) { return of(model).vocabulary.c_str(); },
    [](const void* model) -> uint64_t { return of(model).tensors.size(); },
    tensor,
    metadata,
    [](const void* model) -> uint64_t { return of(model).values.size(); },
    metadata_key,
    [](const void*, colibri_str, colibri_str*, colibri_error* error) -> colibri_status {
      return to_c(not_found("there is no such file"), error);
    },
};

}  // namespace

void FakeFormat::add(const std::string& name, const std::vector<int64_t>& shape, uint32_t codec) {
  Tensor tensor{.name = name, .shape = shape, .codec = codec};
  if (!tensors.empty()) tensor.offset = tensors.back().offset + tensors.back().bytes;
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  const CodecBlock block = *codec_block(codec);
  tensor.bytes = static_cast<uint64_t>(elements / block.elements) * block.bytes;
  tensors.push_back(tensor);
}

const colibri_format_1* FakeFormat::table() {
  current = this;
  return &kTable;
}

}  // namespace colibri::model
