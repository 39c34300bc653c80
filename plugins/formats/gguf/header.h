// SPDX-License-Identifier: Apache-2.0
// The header of one GGUF file: key-value pairs, then the directory of its tensors.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/format.h"
#include "plugins/common/gguf_metadata.h"
#include "runtime/base/status.h"

namespace colibri::gguf {

struct Tensor {
  std::string_view name;
  uint32_t codec = 0;  // COLIBRI_CODEC_*
  uint32_t rank = 0;
  std::array<int64_t, 4> shape = {};  // outermost first
  uint32_t file = 0;
  uint64_t begin = 0, end = 0;  // bytes of the file
};

struct Header {
  std::unique_ptr<const std::string> bytes;  // what keys, values and names point into
  Metadata metadata;
  std::vector<Tensor> tensors;
};

// The longest header that is read; a vocabulary of 256,000 tokens with merges takes 15 MB.
constexpr uint64_t kMostHeaderBytes = uint64_t{256} << 20;

// Whether the file begins like a GGUF file of a version that is read.
Status check_preamble(const colibri_file* files, uint32_t file);

// Reads and checks the header. The tensors must stand in the order of their data, each at the first
// multiple of general.alignment behind the one before it, all of them inside the file.
Result<Header> read_header(const colibri_file* files, uint32_t file);

}  // namespace colibri::gguf
