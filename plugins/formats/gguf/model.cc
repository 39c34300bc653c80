// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/gguf/model.h"

#include <optional>
#include <utility>

#include "plugins/common/format_files.h"
#include "plugins/formats/gguf/parts.h"

namespace colibri::gguf {
namespace {

// A metadata value that must be an integer; nullopt if it is absent.
Result<std::optional<int64_t>> integer(const Metadata& metadata, const std::string& key) {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  if (metadata.find(key, COLIBRI_WHOLE, &value) != COLIBRI_OK) return std::optional<int64_t>();
  if (value.kind != COLIBRI_VALUE_INT) {
    return corrupt_data("metadata '" + key + "': is no integer");
  }
  return std::optional<int64_t>(value.i);
}

Result<std::string_view> text(const Metadata& metadata, std::string_view key) {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  if (metadata.find(key, COLIBRI_WHOLE, &value) != COLIBRI_OK ||
      value.kind != COLIBRI_VALUE_STRING) {
    return not_found("there is no text in the metadata '" + std::string(key) + "'");
  }
  return from_c(value.s);
}

void append(uint64_t number, size_t bytes, std::string* to) {
  for (size_t i = 0; i < bytes; ++i) to->push_back(static_cast<char>(number >> (8 * i) & 0xff));
}

// The pairs "tokenizer.*" as a file of their own; empty if there are none.
std::string tokenizer_file(const Metadata& metadata) {
  std::string pairs;
  uint64_t count = 0;
  for (size_t i = 0; i < metadata.size(); ++i) {
    if (!metadata.key(i).starts_with("tokenizer.")) continue;
    pairs += metadata.raw(i);
    ++count;
  }
  if (count == 0) return pairs;
  std::string file = "GGUF";
  append(3, sizeof(uint32_t), &file);  // version
  append(0, sizeof(uint64_t), &file);  // tensors
  append(count, sizeof(uint64_t), &file);
  return file + pairs;
}

// What a file says of its place in the model must be what the names say: part 0, 1, ... of parts.
Status check_part(const Metadata& metadata, size_t part, size_t parts) {
  COLIBRI_ASSIGN(const auto count, integer(metadata, "split.count"));
  COLIBRI_ASSIGN(const auto number, integer(metadata, "split.no"));
  if (count.value_or(1) != static_cast<int64_t>(parts) ||
      number.value_or(0) != static_cast<int64_t>(part)) {
    return corrupt_data("says that it is part " + std::to_string(number.value_or(0) + 1) + " of " +
                        std::to_string(count.value_or(1)) +
                        ", and by the names of the files it is "
                        "part " +
                        std::to_string(part + 1) + " of " + std::to_string(parts) +
                        "; parts are named NAME-00001-of-00003.gguf and so on");
  }
  return {};
}

}  // namespace

Status Model::accepts(const colibri_file* files) {
  const std::vector<uint32_t> found = gguf_files(files);
  if (found.empty()) return not_found("there is no .gguf file");
  return check_preamble(files, found.front());
}

Result<std::unique_ptr<Model>> Model::open(const colibri_file* files) {
  COLIBRI_ASSIGN(const std::vector<uint32_t> found, find_parts(files));
  auto model = std::make_unique<Model>();
  for (size_t part = 0; part < found.size(); ++part) {
    COLIBRI_ASSIGN(Header header, read_header(files, found[part]));
    COLIBRI_TRY(
        check_part(header.metadata, part, found.size()).at(plugin::file_name(files, found[part])));
    model->tensors_.insert(model->tensors_.end(), header.tensors.begin(), header.tensors.end());
    model->parts_.push_back(std::move(header));
  }
  COLIBRI_TRY(model->check_tensor_count().at(plugin::file_name(files, found.front())));
  return model;
}

Status Model::check_tensor_count() const {
  COLIBRI_ASSIGN(const auto count, integer(metadata(), "split.tensors.count"));
  if (!count || *count == static_cast<int64_t>(tensors_.size())) return {};
  return corrupt_data("metadata 'split.tensors.count': is " + std::to_string(*count) +
                      ", and all parts together have " + std::to_string(tensors_.size()) +
                      " tensors");
}

Result<std::string_view> Model::resource(std::string_view name) {
  if (name == "chat_template.jinja") return text(metadata(), "tokenizer.chat_template");
  if (name != "tokenizer.gguf") return not_found("a GGUF file holds no " + std::string(name));
  // What llama.cpp's tools write for models of numbers that are no text.
  if (const auto kind = text(metadata(), "tokenizer.ggml.model");
      kind.ok() && (*kind == "none" || *kind == "no_vocab")) {
    return not_found("metadata 'tokenizer.ggml.model': is " + std::string(*kind));
  }
  if (tokenizer_.empty()) tokenizer_ = tokenizer_file(metadata());
  if (tokenizer_.empty()) return not_found("there is no metadata 'tokenizer.*'");
  return std::string_view(tokenizer_);
}

}  // namespace colibri::gguf
