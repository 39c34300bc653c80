// SPDX-License-Identifier: Apache-2.0
// config.json of strangers, beside sound weights: read as metadata, matched and bound.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "plugins/formats/safetensors/format.h"
#include "runtime/model/bind.h"
#include "runtime/model/unknown_keys.h"
#include "tests/bad_models/tiny_model.h"

namespace {

using namespace colibri;

// A folder of this process with the weights in it.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "colibri_config_json_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Status open(const std::string& path, const std::vector<config::Architecture>& known) {
  COLIBRI_ASSIGN(std::unique_ptr<model::ModelFiles> files, model::ModelFiles::open(path));
  COLIBRI_ASSIGN(const auto source,
                 model::ModelSource::open(std::move(files), safetensors::format_table()));
  // By name, so that the input need not guess the model_type first.
  static_cast<void>(model::match(*source, known, "auto"));
  COLIBRI_ASSIGN(const config::Architecture* architecture, model::match(*source, known, "mixtral"));
  static_cast<void>(model::unknown_keys(*source, *architecture));
  return model::bind(*source, *architecture).status();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  static const auto known = model::known_architectures(COLIBRI_MIXTRAL_YAML);
  if (!known.ok()) std::abort();
  testing::TinyModel model;
  model.config.assign(reinterpret_cast<const char*>(data), size);
  model.write(folder.path());
  static_cast<void>(open(folder.path(), *known));
  return 0;
}
