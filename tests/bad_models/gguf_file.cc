// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_models/gguf_file.h"

#include <cstring>

namespace colibri::testing {
namespace {

constexpr uint32_t kU32 = 4, kF32 = 6, kString = 8, kList = 9;

std::string little_endian(uint64_t number, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xff);
  return text;
}

uint64_t padding(uint64_t size, uint64_t alignment) {
  return (alignment - size % alignment) % alignment;
}

}  // namespace

std::string le32(uint32_t number) {
  return little_endian(number, 4);
}

std::string le64(uint64_t number) {
  return little_endian(number, 8);
}

std::string gguf_string(std::string_view text) {
  return le64(text.size()) + std::string(text);
}

GgufFile& GgufFile::text(const std::string& key, std::string_view value) {
  pairs.emplace_back(key, le32(kString) + gguf_string(value));
  return *this;
}

GgufFile& GgufFile::u32(const std::string& key, uint32_t value) {
  pairs.emplace_back(key, le32(kU32) + le32(value));
  return *this;
}

GgufFile& GgufFile::f32(const std::string& key, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  pairs.emplace_back(key, le32(kF32) + le32(bits));
  return *this;
}

GgufFile& GgufFile::texts(const std::string& key, const std::vector<std::string>& values) {
  std::string list = le32(kList) + le32(kString) + le64(values.size());
  for (const std::string& value : values) list += gguf_string(value);
  pairs.emplace_back(key, list);
  return *this;
}

GgufFile& GgufFile::tensor(const std::string& name, const std::vector<uint64_t>& extents) {
  uint64_t bytes = 4;
  for (const uint64_t extent : extents) bytes *= extent;
  tensors.push_back({name, extents, 0, bytes});
  return *this;
}

std::string GgufFile::header() const {
  std::string file = "GGUF" + le32(version) + le64(tensors.size()) + le64(pairs.size());
  for (const auto& [key, value] : pairs) file += gguf_string(key) + value;
  uint64_t next = 0;
  for (const Tensor& tensor : tensors) {
    file += gguf_string(tensor.name) + le32(static_cast<uint32_t>(tensor.extents.size()));
    for (const uint64_t extent : tensor.extents) file += le64(extent);
    const uint64_t offset = tensor.offset < 0 ? next : static_cast<uint64_t>(tensor.offset);
    file += le32(tensor.type) + le64(offset);
    next = offset + tensor.bytes + padding(tensor.bytes, alignment);
  }
  return file;
}

std::string GgufFile::bytes() const {
  std::string file = header();
  for (const Tensor& tensor : tensors) {
    file.append(padding(file.size(), alignment), '\0');
    file.append(tensor.bytes, '\x3f');
  }
  return file;
}

GgufFile tiny_gguf() {
  GgufFile file;
  file.text("general.architecture", "llama");
  for (const auto& [key, value] : {std::pair("vocab_size", 16u),
                                   {"context_length", 64},
                                   {"embedding_length", 8},
                                   {"block_count", 1},
                                   {"feed_forward_length", 12},
                                   {"attention.head_count", 2},
                                   {"attention.head_count_kv", 1},
                                   {"expert_count", 2},
                                   {"expert_used_count", 1}}) {
    file.u32(std::string("llama.") + key, value);
  }
  file.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  file.tensor("token_embd.weight", {8, 16}).tensor("output_norm.weight", {8});
  file.tensor("output.weight", {8, 16});
  const std::string layer = "blk.0.";
  file.tensor(layer + "attn_norm.weight", {8}).tensor(layer + "ffn_norm.weight", {8});
  file.tensor(layer + "attn_q.weight", {8, 8}).tensor(layer + "attn_k.weight", {8, 4});
  file.tensor(layer + "attn_v.weight", {8, 4}).tensor(layer + "attn_output.weight", {8, 8});
  file.tensor(layer + "ffn_gate_inp.weight", {8, 2});
  file.tensor(layer + "ffn_gate_exps.weight", {8, 12, 2});
  file.tensor(layer + "ffn_up_exps.weight", {8, 12, 2});
  file.tensor(layer + "ffn_down_exps.weight", {12, 8, 2});
  return file;
}

}  // namespace colibri::testing
