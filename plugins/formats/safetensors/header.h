// SPDX-License-Identifier: Apache-2.0
// The header of one safetensors file: 8 bytes length (little-endian), that many bytes of JSON, then
// the data buffer. https://github.com/huggingface/safetensors#format
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "colibri/format.h"
#include "runtime/base/status.h"

namespace colibri::safetensors {

struct Tensor {
  std::string name;
  uint32_t codec = 0;  // COLIBRI_CODEC_*
  uint32_t rank = 0;
  std::array<int64_t, 4> shape = {};
  uint32_t file = 0;
  uint64_t begin = 0, end = 0;  // bytes of the file
};

// The longest header that the reference implementation reads.
constexpr uint64_t kMostHeaderBytes = 100'000'000;

// The length of the header, if the file begins like a safetensors file; its JSON is not looked at.
Result<uint64_t> read_header_size(const colibri_file* files, uint32_t file);

// The tensors of a file in the order of their data, which must cover the rest of the file without
// holes and overlaps.
Result<std::vector<Tensor>> read_header(const colibri_file* files, uint32_t file);

}  // namespace colibri::safetensors
