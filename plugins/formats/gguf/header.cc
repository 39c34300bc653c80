// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/gguf/header.h"

#include <algorithm>
#include <utility>

#include "plugins/common/format_files.h"
#include "plugins/formats/gguf/tensor_types.h"
#include "runtime/base/codec_facts.h"
#include "runtime/base/utf8.h"

namespace colibri::gguf {
namespace {

constexpr uint64_t kPreambleBytes = 24;
constexpr uint64_t kMostTensors = 1'000'000;

Result<uint64_t> read_alignment(const Metadata& metadata) {
  constexpr int64_t kDefault = 32;
  constexpr int64_t kMost = 1 << 20;
  colibri_value value = {};
  value.struct_size = sizeof(value);
  if (metadata.find("general.alignment", COLIBRI_WHOLE, &value) != COLIBRI_OK) return kDefault;
  if (value.kind != COLIBRI_VALUE_INT || value.i < 1 || value.i > kMost ||
      (value.i & (value.i - 1)) != 0) {
    return corrupt_data("metadata 'general.alignment': is no power of two from 1 to " +
                        std::to_string(kMost));
  }
  return static_cast<uint64_t>(value.i);
}

Status read_type(ByteReader* reader, const TensorType** type) {
  COLIBRI_ASSIGN(const uint32_t number, reader->u32());
  *type = tensor_type(number);
  if (*type == nullptr) {
    return unsupported("has the unknown type " + std::to_string(number) +
                       "; the file may be newer than this program");
  }
  if ((*type)->codec == COLIBRI_CODEC_NONE) {
    return unsupported("is stored as " + std::string((*type)->name) +
                       ", which is not read; take the model in a K type, or in iq4_xs, iq4_nl, "
                       "q8_0, f16 or bf16");
  }
  return {};
}

// Reads shape, type and place. [begin, end) are the bytes that the tensor says it has, from the start
// of the data section.
Status read_tensor(ByteReader* reader, Tensor* tensor) {
  COLIBRI_ASSIGN(tensor->rank, reader->u32());
  if (tensor->rank > tensor->shape.size()) {
    return corrupt_data("has " + std::to_string(tensor->rank) + " dimensions, more than 4");
  }
  uint64_t elements = 1;
  int64_t row = 1;
  for (uint32_t i = 0; i < tensor->rank; ++i) {  // GGUF writes the innermost dimension first
    COLIBRI_ASSIGN(const uint64_t extent, reader->u64());
    // Far enough below the largest int64 that bytes fit too.
    if (extent == 0 || extent > INT64_MAX / 64 || elements > INT64_MAX / 64 / extent) {
      return corrupt_data("has the extent " + std::to_string(extent) +
                          (extent == 0 ? "" : ", and so more elements than a file can hold"));
    }
    elements *= extent;
    if (i == 0) row = static_cast<int64_t>(extent);
    tensor->shape[tensor->rank - 1 - i] = static_cast<int64_t>(extent);
  }
  const TensorType* type = nullptr;
  COLIBRI_TRY(read_type(reader, &type));
  const CodecFacts& facts = *codec_facts(type->codec);
  if (row % facts.elements != 0) {
    return corrupt_data("has rows of " + std::to_string(row) + " elements, and " + facts.name +
                        " needs a multiple of " + std::to_string(facts.elements));
  }
  tensor->codec = facts.id;
  COLIBRI_ASSIGN(tensor->begin, reader->u64());
  const uint64_t bytes =
      elements / static_cast<uint64_t>(facts.elements) * static_cast<uint64_t>(facts.bytes);
  if (__builtin_add_overflow(tensor->begin, bytes, &tensor->end)) {
    return corrupt_data("its data begin at offset " + std::to_string(tensor->begin));
  }
  return {};
}

uint64_t round_up(uint64_t n, uint64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// Moves the tensors from the data section to the file.
Status place(std::vector<Tensor>* tensors, uint64_t begin, uint64_t alignment, uint64_t file_size) {
  uint64_t next = 0;
  for (Tensor& tensor : *tensors) {
    const std::string place = "tensor " + utf8::printable(tensor.name) + ": ";
    if (tensor.begin != next) {
      return corrupt_data(place + "its data begin at offset " + std::to_string(tensor.begin) +
                          ", and " + std::to_string(next) +
                          " follows from the tensors before it and the alignment of " +
                          std::to_string(alignment));
    }
    if (begin > file_size || tensor.end > file_size - begin) {
      return corrupt_data(place + "needs " + std::to_string(tensor.end - tensor.begin) +
                          " bytes at offset " + std::to_string(tensor.begin) + " of " +
                          std::to_string(file_size - std::min(begin, file_size)) +
                          " bytes of data; the file may be cut short");
    }
    next = round_up(tensor.end, alignment);
    tensor.begin += begin;
    tensor.end += begin;
  }
  return {};
}

// The header at the start of a file, of which `bytes` are the first ones.
Result<Header> parse(std::unique_ptr<const std::string> owned, uint64_t file_size,
                     ByteReader* reader) {
  const std::string_view bytes = *owned;
  COLIBRI_ASSIGN(const Preamble preamble, read_preamble(reader));
  if (preamble.tensors > kMostTensors) {
    return corrupt_data("says that it has " + std::to_string(preamble.tensors) +
                        " tensors; at most " + std::to_string(kMostTensors) + " are read");
  }
  COLIBRI_ASSIGN(Metadata metadata, Metadata::read(bytes, preamble.pairs, reader));
  COLIBRI_ASSIGN(const uint64_t alignment, read_alignment(metadata));
  std::vector<Tensor> tensors;
  for (uint64_t i = 0; i < preamble.tensors; ++i) {
    Tensor tensor;
    const Result<std::string_view> name = reader->string();
    if (!name.ok()) return name.status().at("tensor " + std::to_string(i));
    tensor.name = *name;
    COLIBRI_TRY(read_tensor(reader, &tensor).at("tensor " + utf8::printable(*name)));
    tensors.push_back(tensor);
  }
  const uint64_t begin = round_up(reader->at(), alignment);
  COLIBRI_TRY(place(&tensors, begin, alignment, file_size));
  return Header{std::move(owned), std::move(metadata), std::move(tensors)};
}

}  // namespace

Status check_preamble(const colibri_file* files, uint32_t file) {
  std::string head(std::min(files->size(files, file), kPreambleBytes), '\0');
  COLIBRI_TRY(plugin::read_bytes(files, file, 0, head.data(), head.size()));
  ByteReader reader(head);
  return read_preamble(&reader).status().at(plugin::file_name(files, file));
}

Result<Header> read_header(const colibri_file* files, uint32_t file) {
  COLIBRI_TRY(check_preamble(files, file));
  const std::string name = plugin::file_name(files, file);
  const uint64_t file_size = files->size(files, file);
  // Nothing says how long a header is: a longer piece is read until all of it is there.
  for (uint64_t piece = uint64_t{1} << 20;; piece *= 4) {
    const uint64_t size = std::min({piece, file_size, kMostHeaderBytes});
    auto bytes = std::make_unique<std::string>(size, '\0');
    COLIBRI_TRY(plugin::read_bytes(files, file, 0, bytes->data(), size));
    ByteReader reader(*bytes);
    Result<Header> header = parse(std::move(bytes), file_size, &reader);
    if (header.ok()) {
      for (Tensor& tensor : header->tensors) tensor.file = file;
      return header;
    }
    if (!reader.ran_out() || size == file_size) return header.status().at(name);
    if (size == kMostHeaderBytes) {
      return corrupt_data(name + ": its header is longer than the " +
                          std::to_string(kMostHeaderBytes) + " bytes that are read");
    }
  }
}

}  // namespace colibri::gguf
