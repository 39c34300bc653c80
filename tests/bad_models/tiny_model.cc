// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_models/tiny_model.h"

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace colibri::testing {
namespace {

constexpr const char* kConfig = R"({
  "model_type": "mixtral",
  "hidden_act": "silu",
  "num_hidden_layers": 1,
  "hidden_size": 8,
  "vocab_size": 16,
  "max_position_embeddings": 64,
  "num_attention_heads": 2,
  "num_key_value_heads": 1,
  "head_dim": 4,
  "num_local_experts": 2,
  "num_experts_per_tok": 1,
  "intermediate_size": 12,
  "rms_norm_eps": 1e-05,
  "rope_theta": 10000.0,
  "sliding_window": null,
  "tie_word_embeddings": false,
  "bos_token_id": 1,
  "eos_token_id": [2, 3]
})";

int64_t bytes_of(const TinyTensor& tensor) {
  int64_t bytes = tensor.dtype == "F64" ? 8 : tensor.dtype == "F32" ? 4 : 2;
  for (const int64_t extent : tensor.shape) bytes *= extent;
  return bytes;
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream << bytes;
  if (!stream.good()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

TinyModel::TinyModel()
    : config(kConfig), header(header_of(tiny_tensors())), data(data_of(tiny_tensors())) {}

void TinyModel::write(const std::filesystem::path& folder) const {
  if (has_config) write_file(folder / "config.json", config);
  if (has_weights) {
    write_file(folder / "model.safetensors", weights.value_or(safetensors_file(header, data)));
  }
  for (const auto& [name, bytes] : files) write_file(folder / name, bytes);
}

std::vector<TinyTensor> tiny_tensors() {
  const std::string layer = "model.layers.0.";
  std::vector<TinyTensor> tensors = {
      {"model.embed_tokens.weight", {16, 8}},
      {layer + "input_layernorm.weight", {8}},
      {layer + "self_attn.q_proj.weight", {8, 8}},
      {layer + "self_attn.k_proj.weight", {4, 8}},
      {layer + "self_attn.v_proj.weight", {4, 8}},
      {layer + "self_attn.o_proj.weight", {8, 8}},
      {layer + "post_attention_layernorm.weight", {8}},
      {layer + "block_sparse_moe.gate.weight", {2, 8}},
  };
  for (const char* expert : {"0", "1"}) {
    const std::string prefix = layer + "block_sparse_moe.experts." + expert;
    tensors.push_back({prefix + ".w1.weight", {12, 8}});
    tensors.push_back({prefix + ".w2.weight", {8, 12}});
    tensors.push_back({prefix + ".w3.weight", {12, 8}});
  }
  tensors.push_back({"model.norm.weight", {8}});
  tensors.push_back({"lm_head.weight", {16, 8}});
  return tensors;
}

std::string header_of(const std::vector<TinyTensor>& tensors) {
  std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
  int64_t offset = 0;
  for (const TinyTensor& tensor : tensors) {
    json += ",\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[";
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      json += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
    }
    const int64_t end = offset + bytes_of(tensor);
    json += "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  return json + "}";
}

std::string data_of(const std::vector<TinyTensor>& tensors) {
  std::string data;
  const float value = 0.5f;
  for (const TinyTensor& tensor : tensors) {
    std::string zeros(static_cast<size_t>(bytes_of(tensor)), '\0');
    for (size_t at = 0; tensor.dtype == "F32" && at < zeros.size(); at += sizeof(value)) {
      std::memcpy(zeros.data() + at, &value, sizeof(value));
    }
    data += zeros;
  }
  return data;
}

std::string safetensors_file(std::string_view header, std::string_view data) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  file += header;
  file += data;
  return file;
}

void replace(std::string* text, std::string_view from, std::string_view to) {
  const size_t at = text->find(from);
  if (at == std::string::npos) throw std::logic_error(std::string(from) + " does not occur");
  text->replace(at, from.size(), to);
}

}  // namespace colibri::testing
