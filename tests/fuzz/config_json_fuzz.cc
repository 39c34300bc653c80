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
#include "runtime/base/temporary_folder.h"
#include "runtime/model/bind.h"
#include "runtime/model/unknown_keys.h"
#include "tests/bad_models/tiny_model.h"

namespace {

using namespace colibri;

// A sound model on disk, whose config.json changes.
class Model {
 public:
  Model() {
    model_.write(folder_.path());
    model_.has_weights = false;  // they are there now
  }
  const std::filesystem::path& folder() const { return folder_.path(); }

  void set_config(const uint8_t* data, size_t size) {
    model_.config.assign(reinterpret_cast<const char*>(data), size);
    model_.write(folder());
  }

 private:
  testing::TinyModel model_;
  const TemporaryFolder folder_;
};

Status open(const std::string& path, const std::vector<config::Architecture>& known) {
  COLIBRI_ASSIGN(std::unique_ptr<model::ModelFiles> files, model::ModelFiles::open(path));
  COLIBRI_ASSIGN(const auto source,
                 model::ModelSource::open(std::move(files), &safetensors::kFormat));
  // By name, so that the input need not guess the model_type first.
  static_cast<void>(model::match(*source, known, "auto"));
  COLIBRI_ASSIGN(const config::Architecture* architecture, model::match(*source, known, "mixtral"));
  static_cast<void>(model::unknown_keys(*source, *architecture));
  return model::bind(*source, *architecture).status();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Model model;
  static const auto known = model::known_architectures(COLIBRI_MIXTRAL_YAML);
  if (!known.ok()) std::abort();
  model.set_config(data, size);
  static_cast<void>(open(model.folder(), *known));
  return 0;
}
