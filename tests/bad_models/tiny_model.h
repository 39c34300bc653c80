// SPDX-License-Identifier: Apache-2.0
// A Mixtral checkpoint of a few hundred bytes, whole and sound, as text that a test can damage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri::testing {

struct TinyTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::string dtype = "F32";
};

struct TinyModel {
  TinyModel();  // sound: one layer, two experts, all weights 0.5 in f32

  std::string config;                  // config.json
  std::string header;                  // of model.safetensors: the JSON
  std::string data;                    // of model.safetensors: the bytes behind the header
  std::optional<std::string> weights;  // the whole file, in place of header and data
  bool has_config = true;
  bool has_weights = true;
  std::map<std::string, std::string> files;  // more files

  void write(const std::filesystem::path& folder) const;
};

// All tensors of the model, in the order of its data.
std::vector<TinyTensor> tiny_tensors();
// The JSON header of these tensors, one after another.
std::string header_of(const std::vector<TinyTensor>& tensors);
// Bytes of these tensors: every number is 0.5 in F32, and 0 in all else.
std::string data_of(const std::vector<TinyTensor>& tensors);
// A file: length, header, data.
std::string safetensors_file(std::string_view header, std::string_view data);

// Replaces the first occurrence; throws, and so fails the test, if there is none.
void replace(std::string* text, std::string_view from, std::string_view to);

}  // namespace colibri::testing
