// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/search.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

namespace colibri::plugin {
namespace {

namespace fs = std::filesystem;

// The file that this code is in: libcolibri.so, or the program it is linked into.
fs::path own_file() {
  std::error_code error;
  Dl_info info = {};
  link_map* object = nullptr;
  void** extra = reinterpret_cast<void**>(&object);
  const auto* here = reinterpret_cast<const void*>(&own_file);
  if (dladdr1(here, &info, extra, RTLD_DL_LINKMAP) != 0 && object->l_name[0] != '\0') {
    return fs::canonical(object->l_name, error);
  }
  return fs::read_symlink("/proc/self/exe", error);  // the program itself has no name there
}

// bin/colibri, lib/libcolibri.so and lib/<multiarch>/libcolibri.so of a prefix.
fs::path folder_of_prefix() {
  fs::path prefix = own_file().parent_path();
  for (int up = 0; up < 2; ++up) {
    prefix = prefix.parent_path();
    std::error_code error;
    fs::path folder = prefix / "lib/colibri/plugins";
    if (!prefix.empty() && fs::is_directory(folder, error)) return folder;
  }
  return {};
}

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
  if (fs::path folder = folder_of_prefix(); !folder.empty()) folders.push_back(std::move(folder));
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
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".so") files.push_back(entry->path());
    }
    std::sort(files.begin(), files.end());
    for (fs::path& file : files) {
      struct stat info = {};
      std::string refusal = why_not_file(file, info);
      if (!seen.insert({info.st_dev, info.st_ino}).second && refusal.empty()) continue;
      found.push_back({std::move(file), std::move(refusal)});
    }
  }
  return found;
}

}  // namespace colibri::plugin
