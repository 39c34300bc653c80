// SPDX-License-Identifier: Apache-2.0
// GGUF files for tests, written field by field, sound or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace colibri::testing {

// Little-endian bytes of a number, and of a GGUF string (u64 length, bytes).
std::string le32(uint32_t number);
std::string le64(uint64_t number);
std::string gguf_string(std::string_view text);

struct GgufFile {
  struct Tensor {
    std::string name;
    std::vector<uint64_t> extents;  // as in the file: innermost first
    uint32_t type = 0;              // f32
    uint64_t bytes = 0;
    int64_t offset = -1;  // -1 = behind the tensor before it
  };

  uint32_t version = 3;
  uint64_t alignment = 32;                                 // of the data that are written
  std::vector<std::pair<std::string, std::string>> pairs;  // key; type and value as bytes
  std::vector<Tensor> tensors;

  GgufFile& text(const std::string& key, std::string_view value);
  GgufFile& u32(const std::string& key, uint32_t value);
  GgufFile& f32(const std::string& key, float value);
  GgufFile& texts(const std::string& key, const std::vector<std::string>& values);
  // f32 of these extents, innermost first.
  GgufFile& tensor(const std::string& name, const std::vector<uint64_t>& extents);

  // The header, and data of which every byte is 0x3f (in f32 each number is about 0.747).
  std::string bytes() const;
  std::string header() const;
};

// The tiny model (tiny_model.h) as a GGUF file without a tokenizer; all weights about 0.747.
GgufFile tiny_gguf();

}  // namespace colibri::testing
