// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/model_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "runtime/base/folder.h"
#include "runtime/base/part_name.h"
#include "runtime/base/utf8.h"

namespace colibri::model {
namespace {

namespace fs = std::filesystem;

const ModelFiles& host_of(const colibri_file* files) {
  return *static_cast<const ModelFiles*>(files->host);
}

colibri_str table_name(const colibri_file* files, uint32_t file) {
  return to_c(file < files->count ? host_of(files).name(file) : std::string_view());
}

uint64_t table_size(const colibri_file* files, uint32_t file) {
  return file < files->count ? host_of(files).size(file) : 0;
}

colibri_status table_read(const colibri_file* files, uint32_t file, uint64_t offset, void* to,
                          uint64_t n, colibri_error* error) {
  if (file >= files->count) {
    return to_c(io_error("file " + std::to_string(file) + " of " + std::to_string(files->count) +
                         " does not exist"),
                error);
  }
  return to_c(host_of(files).read(file, offset, to, n), error);
}

// Paths of the files of a folder, sorted by name.
Result<std::vector<fs::path>> files_in(const fs::path& folder) {
  COLIBRI_ASSIGN(std::vector<fs::path> paths, list_folder(folder));
  for (const fs::path& path : paths) {
    std::error_code broken;
    if (!fs::exists(path, broken)) {
      return io_error(path.string() + ": is a link that leads to no file; a download may be " +
                      "unfinished");
    }
  }
  // Everything but folders goes on to File::open, which refuses what is not a regular file.
  std::error_code error;
  std::erase_if(paths, [&](const fs::path& path) { return fs::is_directory(path, error); });
  if (paths.size() > ModelFiles::kMostFiles) {
    return invalid_argument(folder.string() + ": has more than " +
                            std::to_string(ModelFiles::kMostFiles) +
                            " files, which no model has; give the folder of one model");
  }
  return paths;
}

// A single file and, if it is one part of several, the other parts beside it that are there: a
// format says of its own files what is missing. Only GGUF has parts that can be given this way.
Result<std::vector<fs::path>> with_parts(const fs::path& path) {
  const std::optional<PartName> name = read_part_name(path.filename().string());
  if (!name || name->extension != ".gguf") return std::vector<fs::path>{path};
  if (name->parts > ModelFiles::kMostFiles) {
    return invalid_argument(path.string() + ": is one of " + std::to_string(name->parts) +
                            " parts by its name; at most " +
                            std::to_string(ModelFiles::kMostFiles) + " are read");
  }
  std::vector<fs::path> paths;
  for (uint32_t part = 1; part <= name->parts; ++part) {
    const fs::path other = path.parent_path() / name->of(part);
    std::error_code error;
    if (part == name->part || fs::exists(other, error)) paths.push_back(other);
  }
  return paths;
}

}  // namespace

ModelFiles::ModelFiles(std::string path, std::vector<Entry> files)
    : path_(std::move(path)), files_(std::move(files)) {
  table_.struct_size = sizeof(table_);
  table_.count = static_cast<uint32_t>(files_.size());
  table_.name = table_name;
  table_.size = table_size;
  table_.read = table_read;
  table_.host = this;
}

Result<std::unique_ptr<ModelFiles>> ModelFiles::open(const std::string& path) {
  std::error_code error;
  COLIBRI_ASSIGN(const std::vector<fs::path> paths,
                 fs::is_directory(path, error) ? files_in(path) : with_parts(path));
  if (paths.empty()) return not_found(path + ": is a folder without files, not a model");
  std::vector<Entry> files;
  for (const fs::path& file : paths) {
    const std::string name = file.filename().string();
    if (!utf8::valid(name)) {
      return invalid_argument(path + ": holds a file whose name is not UTF-8; rename it");
    }
    COLIBRI_ASSIGN(File handle, File::open(file));
    files.push_back({name, std::move(handle)});
  }
  return std::unique_ptr<ModelFiles>(new ModelFiles(path, std::move(files)));
}

void ModelFiles::drop_cache() const {
  for (const Entry& file : files_) file.handle.drop_cache();
}

Status ModelFiles::read(uint32_t file, uint64_t offset, void* to, uint64_t n) const {
  return files_[file].handle.read(offset, to, n);
}

}  // namespace colibri::model
