// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/folder.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

struct Close {
  void operator()(DIR* folder) const { closedir(folder); }
};

Status failed(const std::filesystem::path& folder, int error) {
  std::string text =
      folder.string() + ": cannot be listed: " + std::generic_category().message(error);
  if (error == ENOMEM) return out_of_memory(std::move(text));
  if (error == ENOENT || error == ENOTDIR) return not_found(std::move(text));
  return io_error(std::move(text));
}

}  // namespace

Result<std::vector<std::filesystem::path>> list_folder(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
  if (open == nullptr) return failed(folder, errno);
  std::vector<std::filesystem::path> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(open.get());  // NOLINT(concurrency-mt-unsafe): a DIR of its own
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == kMostEntries) {
      return invalid_argument(folder.string() + ": has more than " + std::to_string(kMostEntries) +
                              " entries; give a folder with fewer");
    }
    entries.push_back(folder / name);
  }
  if (errno != 0) return failed(folder, errno);
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace colibri
