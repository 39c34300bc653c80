// SPDX-License-Identifier: Apache-2.0
// ModelFiles: the files of a model, as a format plugin (colibri_file) and the host read them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/format.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace colibri::model {

// A folder: every regular file directly in it, links to regular files included (the Hugging Face
// cache is made of them), sorted by name; folders inside are left out. A single file: that file
// alone, or if it is a part of a split GGUF (NAME-00001-of-00003.gguf) those parts that are there. All of them are open, so a model does not change under its user when a file is replaced.
// Immutable after open(); reads are thread-safe.
class ModelFiles {
 public:
  // Refused: nothing there, a pipe, socket or device (also inside the folder), a link that leads
  // nowhere or in a circle, an empty folder, more than kMostFiles files, names that are not UTF-8.
  static Result<std::unique_ptr<ModelFiles>> open(const std::string& path);
  static constexpr uint32_t kMostFiles = 4096;

  ModelFiles(const ModelFiles&) = delete;
  ModelFiles& operator=(const ModelFiles&) = delete;

  // The same files behind the C interface; lives as long as this object.
  const colibri_file* table() const { return &table_; }

  const std::string& path() const { return path_; }  // as given to open()
  uint32_t count() const { return table_.count; }
  std::string_view name(uint32_t file) const { return files_[file].name; }
  uint64_t size(uint32_t file) const { return files_[file].handle.size(); }
  const std::filesystem::path& path(uint32_t file) const { return files_[file].handle.path(); }
  const File& file(uint32_t file) const { return files_[file].handle; }
  // Lets the system forget what it keeps of the files in memory.
  void drop_cache() const;
  // Reads bytes [offset, offset + n) of a file, all of them or an error; a range that leaves the
  // file is COLIBRI_IO.
  Status read(uint32_t file, uint64_t offset, void* to, uint64_t n) const;

 private:
  struct Entry {
    std::string name;
    File handle;
  };

  ModelFiles(std::string path, std::vector<Entry> files);

  std::string path_;
  std::vector<Entry> files_;
  colibri_file table_ = {};
};

}  // namespace colibri::model
