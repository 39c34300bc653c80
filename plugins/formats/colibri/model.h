// SPDX-License-Identifier: Apache-2.0
// A model in a .colibri file (docs/format.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/format.h"
#include "plugins/common/gguf_metadata.h"
#include "runtime/base/container.h"
#include "runtime/base/status.h"

namespace colibri::colibri_format {

struct Tensor {
  std::string_view name;
  uint32_t codec = 0, layout = 0, rank = 0;
  std::array<int64_t, 4> shape = {};
  uint32_t file = 0;
  uint64_t begin = 0, end = 0;
  uint64_t checksum = 0;
};

class Model {
 public:
  // Ok if there is one file and it begins like a .colibri file.
  static Status accepts(const colibri_file* files);
  // Reads and checks everything but the weights.
  static Result<std::unique_ptr<Model>> open(const colibri_file* files);

  const char* vocabulary() const { return vocabulary_.c_str(); }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const gguf::Metadata& metadata() const { return *metadata_; }
  Result<std::string_view> resource(std::string_view name);

 private:
  struct Resource {
    std::string_view name, bytes;
  };

  Model() = default;
  Status read_metadata();
  Status read_resources();
  Status read_directory(const container::Head& head);
  Status add_tensor(gguf::ByteReader* reader, const container::Head& head);

  std::array<std::string, container::kSections> sections_;  // bytes of the small ones
  std::unique_ptr<gguf::Metadata> metadata_;
  std::string vocabulary_;
  std::vector<Resource> resources_;
  std::vector<Tensor> tensors_;
};

}  // namespace colibri::colibri_format
