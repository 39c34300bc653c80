// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/source.h"

#include <algorithm>
#include <utility>

#include "colibri/kernels.h"
#include "runtime/base/container.h"
#include "runtime/base/panel_layout.h"
#include "runtime/base/utf8.h"
#include "runtime/model/codecs.h"

namespace colibri::model {
namespace {

// The bytes of a tensor of this shape, codec and layout.
Result<uint64_t> bytes_of(const TensorEntry& tensor) {
  const std::optional<CodecBlock> block = codec_block(tensor.codec);
  if (!block) return unsupported("has the unknown codec " + std::to_string(tensor.codec));
  // Far enough below the largest int64 that bytes fit too. A zero must not hide an overflow of the
  // other extents from those who multiply in another order.
  constexpr int64_t kMostElements = INT64_MAX / 64;
  int64_t elements = 1;
  bool empty = false;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(elements, tensor.shape[i], &elements) ||
               elements > kMostElements) {
      return corrupt_data("has the shape " + shape_text(tensor) + ", which overflows");
    }
  }
  const int64_t last = tensor.rank == 0 ? 1 : tensor.shape[tensor.rank - 1];
  if (last % block->elements != 0) {
    return corrupt_data("has rows of " + std::to_string(last) + " elements, and " +
                        codec_name(tensor.codec) + " needs a multiple of " +
                        std::to_string(block->elements));
  }
  if (empty) return 0;
  if (tensor.layout == COLIBRI_LAYOUT_R8) {
    return r8_bytes(*codec_facts(tensor.codec), tensor.shape[0], tensor.shape[1]);
  }
  return static_cast<uint64_t>(elements / block->elements) * block->bytes;
}

Status check_entry(const TensorEntry& tensor, const ModelFiles& files) {
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] < 0) {
      return corrupt_data("has the negative extent " + std::to_string(tensor.shape[i]));
    }
  }
  if (tensor.layout != COLIBRI_LAYOUT_ROWS &&
      (tensor.layout != COLIBRI_LAYOUT_R8 || tensor.rank != 2)) {
    return unsupported("has layout " + std::to_string(tensor.layout) + " and " +
                       std::to_string(tensor.rank) +
                       " dimensions; this version reads row-major tensors and matrices in R8");
  }
  const CodecFacts* facts = codec_facts(tensor.codec);
  if (tensor.layout == COLIBRI_LAYOUT_R8 && facts != nullptr && facts->elements > 1 &&
      !facts->integer) {
    return unsupported(std::string("is stored in R8, and ") + facts->name + " is read row by row");
  }
  COLIBRI_ASSIGN(const uint64_t bytes, bytes_of(tensor));
  if (bytes != tensor.bytes) {
    return corrupt_data("takes " + std::to_string(tensor.bytes) + " bytes, and the shape " +
                        shape_text(tensor) + " of " + codec_name(tensor.codec) + " needs " +
                        std::to_string(bytes));
  }
  if (tensor.file >= files.count()) {
    return corrupt_data("lies in file " + std::to_string(tensor.file) + " of " +
                        std::to_string(files.count()));
  }
  const uint64_t size = files.size(tensor.file);
  if (tensor.offset > size || tensor.bytes > size - tensor.offset) {
    return corrupt_data("needs " + std::to_string(tensor.bytes) + " bytes at offset " +
                        std::to_string(tensor.offset) + " of " +
                        std::string(files.name(tensor.file)) + ", which has " +
                        std::to_string(size) + " bytes");
  }
  return {};
}

}  // namespace

std::string shape_text(const TensorEntry& tensor) {
  std::string text = "[";
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(tensor.shape[i]);
  }
  return text + "]";
}

ModelSource::ModelSource(std::unique_ptr<ModelFiles> files, const colibri_format_1* format,
                         void* model)
    : files_(std::move(files)), format_(format), model_(model) {}

ModelSource::~ModelSource() {
  format_->close(model_);
}

Result<std::unique_ptr<ModelSource>> ModelSource::open(std::unique_ptr<ModelFiles> files,
                                                       const colibri_format_1* format) {
  const std::string path = files->path();
  colibri_error error = empty_error();
  void* model = nullptr;
  const colibri_status code = format->open(files->table(), &model, &error);
  if (code != COLIBRI_OK) return from_c(code, error, "opening the model").at(path);
  std::unique_ptr<ModelSource> source(new ModelSource(std::move(files), format, model));
  COLIBRI_TRY(source->read_directory().at(path));
  COLIBRI_TRY(source->check_overlaps().at(path));
  source->names_roles_ = source->metadata(container::kVocabularyKey).ok();
  return source;
}

Status ModelSource::read_directory() {
  const uint64_t count = format_->tensor_count(model_);
  for (uint64_t i = 0; i < count; ++i) {
    colibri_tensor_entry entry = {};
    entry.struct_size = sizeof(entry);
    const colibri_status code = format_->tensor(model_, i, &entry);
    if (code != COLIBRI_OK) {
      return {code, "the format does not describe tensor " + std::to_string(i) + " of " +
                        std::to_string(count)};
    }
    TensorEntry tensor;
    tensor.name = from_c(entry.name);
    if (tensor.name.empty() || !utf8::valid(tensor.name)) {
      return corrupt_data("the name of tensor " + std::to_string(i) + " is empty or not UTF-8");
    }
    const std::string place = "tensor " + utf8::printable(tensor.name);
    if (entry.rank > tensor.shape.size()) {
      return unsupported(place + " has " + std::to_string(entry.rank) + " dimensions, more than 4");
    }
    tensor.codec = entry.codec;
    tensor.layout = entry.layout;
    tensor.rank = entry.rank;
    std::copy_n(entry.shape, entry.rank, tensor.shape.begin());
    tensor.file = entry.file;
    tensor.offset = entry.offset;
    tensor.bytes = entry.bytes;
    tensor.checksum = entry.checksum;
    if (const Status status = check_entry(tensor, *files_); !status.ok()) {
      return {status.code(), place + " " + status.text()};
    }
    if (!by_name_.emplace(tensor.name, tensors_.size()).second) {
      return corrupt_data(place + " stands twice in the model");
    }
    tensors_.push_back(tensor);
  }
  return {};
}

Status ModelSource::check_overlaps() const {
  std::vector<const TensorEntry*> order;
  for (const TensorEntry& tensor : tensors_) {
    if (tensor.bytes > 0) order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::pair(a->file, a->offset) < std::pair(b->file, b->offset);
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorEntry& before = *order[i - 1];
    const TensorEntry& after = *order[i];
    if (before.file == after.file && before.offset + before.bytes > after.offset) {
      return corrupt_data("tensors " + utf8::printable(before.name) + " and " +
                          utf8::printable(after.name) + " overlap at byte " +
                          std::to_string(after.offset) + " of " +
                          std::string(files_->name(after.file)));
    }
  }
  return {};
}

std::string_view ModelSource::vocabulary() const {
  return format_->vocabulary(model_);
}

const TensorEntry* ModelSource::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

std::string ModelSource::place_of(const TensorEntry& tensor) const {
  return files_->path() + ": tensor " + utf8::printable(tensor.name);
}

Status ModelSource::read(const TensorEntry& tensor, uint64_t offset, void* to, uint64_t n) const {
  if (offset > tensor.bytes || n > tensor.bytes - offset) {
    return internal_error(place_of(tensor) + ": bytes " + std::to_string(offset) + " to " +
                          std::to_string(offset + n) + " lie outside its " +
                          std::to_string(tensor.bytes));
  }
  Status status = files_->read(tensor.file, tensor.offset + offset, to, n);
  // Experts are read while tokens are made: no text is built unless it is needed.
  return status.ok() ? status : status.at(place_of(tensor));
}

bool ModelSource::had_tensor(std::string_view name) const {
  if (!names_roles_) return find(name) != nullptr;
  const Result<colibri_value> names = metadata(container::kTensorsKey);
  uint64_t begin = 0, end = names.ok() ? names->n : 0;
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    const Result<colibri_value> found = metadata(container::kTensorsKey, middle);
    if (!found.ok() || found->kind != COLIBRI_VALUE_STRING) return false;
    const int order = from_c(found->s).compare(name);
    if (order == 0) return true;
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return false;
}

Result<colibri_value> ModelSource::metadata(std::string_view key, uint64_t index) const {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  const colibri_status code = format_->metadata(model_, to_c(key), index, &value);
  if (code != COLIBRI_OK) return Status(code, place_of(key) + ": is not given");
  return value;
}

std::vector<std::string_view> ModelSource::metadata_keys() const {
  std::vector<std::string_view> keys;
  const uint64_t count = format_->metadata_count(model_);
  for (uint64_t i = 0; i < count; ++i) {
    colibri_str key = {};
    if (format_->metadata_key(model_, i, &key) == COLIBRI_OK) keys.push_back(from_c(key));
  }
  return keys;
}

bool ModelSource::has_members(std::string_view key) const {
  const std::vector<std::string_view> keys = metadata_keys();
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view candidate) {
    return candidate.size() > key.size() && candidate[key.size()] == '.' &&
           candidate.starts_with(key);
  });
}

std::string ModelSource::place_of(std::string_view key) const {
  if (vocabulary() != "hf") return "metadata " + std::string(key);
  // The files behind the keys of "hf": see metadata() in colibri/format.h.
  for (const std::string_view file : {"generation_config", "tokenizer_config"}) {
    if (key.size() > file.size() && key.substr(0, file.size()) == file && key[file.size()] == '.') {
      return std::string(file) + ".json: " + std::string(key.substr(file.size() + 1));
    }
  }
  return "config.json: " + std::string(key);
}

Result<std::string_view> ModelSource::resource(std::string_view name) const {
  colibri_error error = empty_error();
  colibri_str bytes = {};
  const colibri_status code = format_->resource(model_, to_c(name), &bytes, &error);
  if (code != COLIBRI_OK) {
    return from_c(code, error, "reading " + std::string(name)).at(files_->path());
  }
  return from_c(bytes);
}

}  // namespace colibri::model
