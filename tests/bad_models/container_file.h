// SPDX-License-Identifier: Apache-2.0
// .colibri files for tests, written field by field, sound or not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/container.h"
#include "tests/bad_models/gguf_file.h"

namespace colibri::testing {

struct ContainerFile {
  struct Tensor {
    std::string name;
    std::vector<uint64_t> extents;   // outermost first
    uint32_t codec = 1, layout = 0;  // f32, rows
    uint64_t bytes = 0;
    int64_t offset = -1;  // -1 = at the next multiple of 4096
    uint64_t checksum = 1;
  };

  GgufFile metadata;
  std::vector<std::pair<std::string, std::string>> resources;
  std::vector<Tensor> tensors;
  // Bytes in place of what the fields above say, if not empty.
  std::string raw_metadata, raw_resources, raw_directory;
  std::function<void(container::Head*)> change_head;  // may be empty

  ContainerFile& tensor(const std::string& name, const std::vector<uint64_t>& extents);
  // Every byte of a tensor is 0x3f, as in GgufFile.
  std::string bytes() const;
};

// The tiny model (tiny_model.h), its metadata in the words of GGUF.
ContainerFile tiny_container();

}  // namespace colibri::testing
