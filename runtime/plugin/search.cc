// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/search.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "runtime/base/folder.h"
#include "runtime/base/install_paths.h"

namespace colibri::plugin {
namespace {

namespace fs = std::filesystem;

std::string why_not_folder(const fs::path& folder) {
  if (!folder.is_absolute()) return "not an absolute path";
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0) return "";  // holds nothing
  if (!S_ISDIR(info.st_mode)) return "not a folder";
  if ((info.st_mode & S_IWOTH) != 0) return "everybody may write to this folder (chmod o-w)";
  return "";
}

std::string why_not_file(const fs::path& file, struct stat& info) {
  if (stat(file.c_str(), &info) != 0) return "cannot be read";
  if (!S_ISREG(info.st_mode)) return "not a regular file";
  if ((info.st_mode & S_IWOTH) != 0) return "everybody may write to this file (chmod o-w)";
  return "";
}

}  // namespace

std::vector<fs::path> installed_folders() {
  std::vector<fs::path> folders;
  const char* variable = secure_getenv("COLIBRI_PLUGIN_PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (fs::path folder = plugin_dir(); !folder.empty()) folders.push_back(std::move(folder));
  return folders;
}

std::vector<FoundFile> find_plugin_files(const std::vector<fs::path>& folders) {
  std::vector<FoundFile> found;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const fs::path& folder : folders) {
    if (std::string refusal = why_not_folder(folder); !refusal.empty()) {
      found.push_back({folder, std::move(refusal)});
      continue;
    }
    auto files = list_folder(folder);
    if (!files.ok()) {
      if (files.status().code() == COLIBRI_NOT_FOUND) continue;
      // The folder's name stands before every refusal already.
      found.push_back({folder, files.status().text().substr(folder.string().size() + 2)});
      continue;
    }
    for (fs::path& file : *files) {
      if (file.extension() != ".so") continue;
      struct stat info = {};
      std::string refusal = why_not_file(file, info);
      if (!seen.insert({info.st_dev, info.st_ino}).second && refusal.empty()) continue;
      found.push_back({std::move(file), std::move(refusal)});
    }
  }
  return found;
}

}  // namespace colibri::plugin
