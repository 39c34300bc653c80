// SPDX-License-Identifier: Apache-2.0
// ModelSource: a model as its format plugin describes it, every statement checked by the host.
// Formats are plugins and files are hostile, so nothing a format says about an extent is believed
// before it was checked here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "colibri/format.h"
#include "runtime/base/status.h"
#include "runtime/model/model_files.h"

namespace colibri::model {

struct TensorEntry {
  std::string_view name;                        // lives as long as the source
  uint32_t codec = 0;                           // COLIBRI_CODEC_*
  uint32_t layout = 0;                          // COLIBRI_LAYOUT_*
  uint32_t rank = 0;                            // 0 to 4
  std::array<int64_t, 4> shape = {1, 1, 1, 1};  // elements, outermost first; 1 from rank on
  uint32_t file = 0;                            // index into ModelFiles
  uint64_t offset = 0, bytes = 0;
  uint64_t checksum = 0;  // XXH3-64 of the extent; 0 = none

  int64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

std::string shape_text(const TensorEntry& tensor);  // "[8, 32]"

// Immutable after open(); every function is thread-safe except resource().
class ModelSource {
 public:
  // Opens the files with a format that accepts them. Checks that every tensor has a known codec and
  // layout, a rank of 0 to 4, a shape whose product fits, bytes that are those of shape and codec,
  // an extent inside its file, a name of its own, and no byte in common with another.
  static Result<std::unique_ptr<ModelSource>> open(std::unique_ptr<ModelFiles> files,
                                                   const colibri_format_1* format);
  ~ModelSource();
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;

  const ModelFiles& files() const { return *files_; }
  // The names that the architecture document uses: "hf", "gguf", ...
  std::string_view vocabulary() const;
  // Whether tensors are named by what they are for (role_path.h), as in .colibri files; the metadata
  // then are those of the model that the file was made from.
  bool names_roles() const { return names_roles_; }

  const std::vector<TensorEntry>& tensors() const {
    return tensors_;
  }                                                      // in the order of the format
  const TensorEntry* find(std::string_view name) const;  // nullptr = none
  // Whether the model, or that which a .colibri file was made from, has a tensor of this name.
  bool had_tensor(std::string_view name) const;
  // "models/x: tensor 'lm_head.weight'", for messages.
  std::string place_of(const TensorEntry& tensor) const;
  // Reads bytes [offset, offset + n) of a tensor; errors name it.
  Status read(const TensorEntry& tensor, uint64_t offset, void* to, uint64_t n) const;

  // The value of a metadata key, or element `index` of an array. COLIBRI_NOT_FOUND if there is
  // none.
  Result<colibri_value> metadata(std::string_view key, uint64_t index = COLIBRI_WHOLE) const;
  std::vector<std::string_view> metadata_keys() const;  // in the order of the format
  // Whether there are keys below this one: "rope_scaling" if there is "rope_scaling.factor".
  bool has_members(std::string_view key) const;
  // Where a key stands, for messages: "config.json: num_hidden_layers".
  std::string place_of(std::string_view key) const;

  // The bytes of a resource ("tokenizer.json"), valid as long as the source. COLIBRI_NOT_FOUND if
  // there is none. Not thread-safe.
  Result<std::string_view> resource(std::string_view name) const;

 private:
  ModelSource(std::unique_ptr<ModelFiles> files, const colibri_format_1* format, void* model);
  Status read_directory();
  Status check_overlaps() const;

  std::unique_ptr<ModelFiles> files_;
  const colibri_format_1* format_;
  void* model_;
  std::vector<TensorEntry> tensors_;
  std::unordered_map<std::string_view, size_t> by_name_;  // index into tensors_
  bool names_roles_ = false;
};

}  // namespace colibri::model
