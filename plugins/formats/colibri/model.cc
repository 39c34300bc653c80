// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/colibri/model.h"

#include <algorithm>
#include <utility>

#include "plugins/common/format_files.h"
#include "runtime/base/checksum.h"
#include "runtime/base/utf8.h"

namespace colibri::colibri_format {
namespace {

using container::kPage;

// Of metadata, resources or directory: far above those of the largest models.
constexpr uint64_t kMostSectionBytes = uint64_t{1} << 28;
constexpr uint32_t kMostResources = 64;
constexpr uint32_t kMostTensors = 1u << 22;

// The first page, or what there is of it.
Result<std::string> first_page(const colibri_file* files) {
  if (files->count != 1) return unsupported("a .colibri model is one file");
  const uint64_t n = std::min(files->size(files, 0), kPage);
  std::string page(static_cast<size_t>(n), '\0');
  COLIBRI_TRY(plugin::read_bytes(files, 0, 0, page.data(), n));
  return page;
}

}  // namespace

Status Model::accepts(const colibri_file* files) {
  COLIBRI_ASSIGN(const std::string page, first_page(files));
  if (page.substr(0, container::kMagic.size()) == container::kMagic) return {};
  return unsupported("does not begin like a .colibri file");
}

Result<std::unique_ptr<Model>> Model::open(const colibri_file* files) {
  COLIBRI_ASSIGN(const std::string page, first_page(files));
  COLIBRI_ASSIGN(const container::Head head, container::decode(page, files->size(files, 0)));
  std::unique_ptr<Model> model(new Model);
  for (const container::Section i :
       {container::kMetadata, container::kResources, container::kDirectory}) {
    const container::Extent& section = head.sections[i];
    const std::string name = std::string("the section ") + container::kSectionNames[i];
    if (section.bytes > kMostSectionBytes) {
      return corrupt_data(name + " has " + std::to_string(section.bytes) + " bytes, too many");
    }
    std::string& bytes = model->sections_[i];
    bytes.resize(static_cast<size_t>(section.bytes));
    COLIBRI_TRY(plugin::read_bytes(files, 0, section.offset, bytes.data(), section.bytes));
    if (checksum(bytes) != section.checksum) {
      return corrupt_data(name +
                          " is damaged (its checksum differs); copy the file again, or "
                          "convert the source anew");
    }
  }
  COLIBRI_TRY(model->read_metadata());
  COLIBRI_TRY(model->read_resources());
  COLIBRI_TRY(model->read_directory(head));
  return model;
}

Status Model::read_metadata() {
  auto read = gguf::Metadata::read_file(sections_[container::kMetadata]);
  if (!read.ok()) return read.status().at("the section metadata");
  metadata_ = std::make_unique<gguf::Metadata>(std::move(*read));
  colibri_value value = {};
  value.struct_size = sizeof(value);
  if (metadata_->find(container::kVocabularyKey, COLIBRI_WHOLE, &value) != COLIBRI_OK ||
      value.kind != COLIBRI_VALUE_STRING) {
    return corrupt_data("the section metadata: there is no text colibri.vocabulary");
  }
  vocabulary_ = from_c(value.s);
  return {};
}

Status Model::read_resources() {
  gguf::ByteReader reader(sections_[container::kResources]);
  const auto read = [&]() -> Status {
    COLIBRI_ASSIGN(const uint32_t count, reader.u32());
    if (count > kMostResources) return corrupt_data("there are too many");
    for (uint32_t i = 0; i < count; ++i) {
      COLIBRI_ASSIGN(const std::string_view name, reader.string());
      COLIBRI_ASSIGN(const std::string_view bytes, reader.string());
      resources_.push_back({name, bytes});
    }
    return reader.left() == 0 ? Status() : corrupt_data("there are bytes behind the last");
  };
  return read().at("the section resources");
}

Status Model::read_directory(const container::Head& head) {
  gguf::ByteReader reader(sections_[container::kDirectory]);
  const auto read = [&]() -> Status {
    COLIBRI_ASSIGN(const uint32_t count, reader.u32());
    if (count > kMostTensors) return corrupt_data("there are too many tensors");
    for (uint32_t i = 0; i < count; ++i) COLIBRI_TRY(add_tensor(&reader, head));
    return reader.left() == 0 ? Status() : corrupt_data("there are bytes behind the last tensor");
  };
  return read().at("the section directory");
}

Status Model::add_tensor(gguf::ByteReader* reader, const container::Head& head) {
  Tensor tensor;
  COLIBRI_ASSIGN(tensor.name, reader->string());
  COLIBRI_ASSIGN(tensor.codec, reader->u32());
  COLIBRI_ASSIGN(tensor.layout, reader->u32());
  COLIBRI_ASSIGN(tensor.rank, reader->u32());
  const std::string place = "tensor " + utf8::printable(tensor.name);
  if (tensor.rank > tensor.shape.size()) {
    return corrupt_data(place + ": has " + std::to_string(tensor.rank) + " dimensions");
  }
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    COLIBRI_ASSIGN(const uint64_t extent, reader->u64());
    tensor.shape[i] = static_cast<int64_t>(extent);  // the host refuses negative ones
  }
  COLIBRI_ASSIGN(tensor.begin, reader->u64());
  COLIBRI_ASSIGN(const uint64_t bytes, reader->u64());
  COLIBRI_ASSIGN(tensor.checksum, reader->u64());
  const auto inside = [&](container::Section i) {
    const container::Extent& section = head.sections[i];
    return tensor.begin >= section.offset && tensor.begin - section.offset <= section.bytes &&
           bytes <= section.bytes - (tensor.begin - section.offset);
  };
  if (!inside(container::kDense) && !inside(container::kExperts)) {
    return corrupt_data(place + ": its bytes leave the sections of weights");
  }
  if (tensor.begin % container::kAlignment != 0) {
    return corrupt_data(place + ": begins at byte " + std::to_string(tensor.begin) +
                        ", which is no multiple of 64");
  }
  if (tensor.checksum == 0) return corrupt_data(place + ": has no checksum");
  tensor.end = tensor.begin + bytes;
  tensors_.push_back(tensor);
  return {};
}

Result<std::string_view> Model::resource(std::string_view name) {
  for (const Resource& resource : resources_) {
    if (resource.name == name) return resource.bytes;
  }
  return not_found("the file holds no " + utf8::printable(name));
}

}  // namespace colibri::colibri_format
