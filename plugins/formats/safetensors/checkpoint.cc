// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/checkpoint.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "plugins/common/format_files.h"
#include "plugins/formats/safetensors/index.h"
#include "runtime/base/utf8.h"

namespace colibri::safetensors {
namespace {

using plugin::file_name;
using plugin::find_file;
using plugin::read_bytes;
using plugin::read_whole;

constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr uint64_t kMostIndexBytes = uint64_t{256} << 20;
constexpr uint64_t kMostResourceBytes = uint64_t{512} << 20;

// The file that holds all weights: model.safetensors, or a single file that was given by its name.
std::optional<uint32_t> single_file(const colibri_file* files) {
  if (const std::optional<uint32_t> file = find_file(files, kWeights)) return file;
  if (files->count == 1 && file_name(files, 0).ends_with(".safetensors")) return 0;
  return std::nullopt;
}

}  // namespace

Status Checkpoint::accepts(const colibri_file* files) {
  if (const std::optional<uint32_t> index = find_file(files, kIndex)) {
    std::string head(std::min<uint64_t>(files->size(files, *index), 64), '\0');
    COLIBRI_TRY(read_bytes(files, *index, 0, head.data(), head.size()));
    const size_t first = head.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && head[first] == '{') return {};
    return corrupt_data(std::string(kIndex) + ": does not begin like a JSON object");
  }
  const std::optional<uint32_t> file = single_file(files);
  if (!file) {
    return not_found("there is neither " + std::string(kWeights) + " nor " + std::string(kIndex));
  }
  return read_header_size(files, *file).status();
}

Result<std::unique_ptr<Checkpoint>> Checkpoint::open(const colibri_file* files) {
  std::unique_ptr<Checkpoint> checkpoint(new Checkpoint(files));
  COLIBRI_TRY(checkpoint->read_metadata());
  COLIBRI_TRY(checkpoint->read_weights());
  return checkpoint;
}

Status Checkpoint::read_weights() {
  const std::optional<uint32_t> index = find_file(files_, kIndex);
  if (index) return read_shards(*index);
  const std::optional<uint32_t> file = single_file(files_);
  if (!file) {
    return not_found("there is neither " + std::string(kWeights) + " nor " + std::string(kIndex));
  }
  COLIBRI_ASSIGN(tensors_, read_header(files_, *file));
  return {};
}

Status Checkpoint::read_shards(uint32_t index) {
  const std::string name(kIndex);
  COLIBRI_ASSIGN(std::string json, read_whole(files_, index, kMostIndexBytes));
  COLIBRI_ASSIGN(const ShardOfTensor shard_of, read_index(name, std::move(json)));
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : shard_of) shards.insert(shard);
  if (find_file(files_, kWeights) && shards.count(std::string(kWeights)) == 0) {
    return corrupt_data("there are " + std::string(kWeights) + " and " + name +
                        ", which names other files; remove the one that is not of this model");
  }
  for (const std::string& shard : shards) {
    const std::optional<uint32_t> file = find_file(files_, shard);
    if (!file) {
      return not_found("the shard " + utf8::printable(shard) + " is missing; " + name +
                       " names it, a download may be unfinished");
    }
    COLIBRI_ASSIGN(std::vector<Tensor> tensors, read_header(files_, *file));
    for (Tensor& tensor : tensors) {
      const auto found = shard_of.find(tensor.name);
      if (found == shard_of.end() || found->second != shard) {
        return corrupt_data(name + ": tensor " + utf8::printable(tensor.name) + " is in " + shard +
                            (found == shard_of.end()
                                 ? ", and the index does not name it"
                                 : ", and the index says " + utf8::printable(found->second)));
      }
      tensors_.push_back(std::move(tensor));
    }
  }
  if (tensors_.size() == shard_of.size()) return {};
  // Every tensor that is there is in the index once, so the index names one that is not there.
  std::set<std::string_view> present;
  for (const Tensor& tensor : tensors_) present.insert(tensor.name);
  std::string_view first;
  for (const auto& [tensor, shard] : shard_of) {
    if (present.count(tensor) == 0 && (first.empty() || tensor < first)) first = tensor;
  }
  return corrupt_data(name + ": names tensor " + utf8::printable(first) + " in " +
                      utf8::printable(shard_of.at(std::string(first))) + ", which is not in it");
}

Status Checkpoint::read_metadata() {
  constexpr std::pair<const char*, const char*> kFiles[] = {
      {"config.json", ""},
      {"generation_config.json", "generation_config."},
      {"tokenizer_config.json", "tokenizer_config."}};
  for (const auto& [name, prefix] : kFiles) {
    const std::optional<uint32_t> file = find_file(files_, name);
    if (file) {
      COLIBRI_ASSIGN(std::string json, read_whole(files_, *file, Metadata::kMostBytes));
      COLIBRI_TRY(metadata_.add(name, std::move(json), prefix));
    } else if (*prefix == '\0') {
      return not_found("there is no config.json; give the folder that holds it and the weights");
    }
  }
  return {};
}

Result<std::string_view> Checkpoint::resource(std::string_view name) {
  const auto known = resources_.find(name);
  if (known != resources_.end()) return std::string_view(known->second);
  const std::optional<uint32_t> file = find_file(files_, name);
  if (!file) return not_found("there is no " + std::string(name));
  COLIBRI_ASSIGN(std::string bytes, read_whole(files_, *file, kMostResourceBytes));
  return std::string_view(resources_.emplace(name, std::move(bytes)).first->second);
}

}  // namespace colibri::safetensors
