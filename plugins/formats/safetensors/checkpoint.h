// SPDX-License-Identifier: Apache-2.0
// A checkpoint in its Hugging Face form: config.json and model.safetensors, or shards with
// model.safetensors.index.json.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/format.h"
#include "plugins/formats/safetensors/header.h"
#include "plugins/formats/safetensors/metadata.h"
#include "runtime/base/status.h"

namespace colibri::safetensors {

class Checkpoint {
 public:
  static const char* vocabulary() { return "hf"; }

  // Ok if the files are such a checkpoint: there is an index, or a file of weights that begins like
  // one.
  static Status accepts(const colibri_file* files);

  // Reads the headers of all weights, the index and the metadata. The index must say of every
  // tensor where it is.
  static Result<std::unique_ptr<Checkpoint>> open(const colibri_file* files);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  // The bytes of a file beside the weights, read once and kept.
  Result<std::string_view> resource(std::string_view name);

 private:
  explicit Checkpoint(const colibri_file* files) : files_(files) {}
  Status read_weights();
  Status read_shards(uint32_t index);
  Status read_metadata();

  const colibri_file* files_;
  std::vector<Tensor> tensors_;
  Metadata metadata_;
  std::map<std::string, std::string, std::less<>> resources_;
};

}  // namespace colibri::safetensors
