// SPDX-License-Identifier: Apache-2.0
// The bad models: each is the sound one with one fault.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/bad_models/tiny_model.h"

namespace colibri::testing {

struct BadModel {
  std::string name;
  std::function<void(TinyModel*)> damage;                   // before the model is written
  std::function<void(const std::filesystem::path&)> after;  // what no text can say; may be empty
  std::string open;  // what is opened in the folder; empty = the folder
};

std::vector<BadModel> bad_files();       // what stands in the folder
std::vector<BadModel> bad_headers();     // model.safetensors and its index
std::vector<BadModel> bad_gguf();        // GGUF files and their parts
std::vector<BadModel> bad_containers();  // .colibri files
std::vector<BadModel> bad_configs();     // config.json and the other JSON files
std::vector<BadModel> bad_tensors();     // what does not fit the architecture, and the numbers

}  // namespace colibri::testing
