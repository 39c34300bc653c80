// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/install_paths.h"

#include <dlfcn.h>
#include <link.h>

#include <system_error>

namespace colibri {
namespace {

namespace fs = std::filesystem;

// The file that this code was loaded from. A program has no name in its own link map, and argv[0]
// may be anything, so that the kernel is asked instead.
fs::path own_file() {
  Dl_info info = {};
  link_map* map = nullptr;
  const bool found = dladdr1(reinterpret_cast<void*>(&own_file), &info,
                             reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  const bool library = found && map != nullptr && map->l_name != nullptr && *map->l_name != '\0';
  std::error_code error;
  const fs::path file = fs::canonical(library ? map->l_name : "/proc/self/exe", error);
  return error ? fs::path() : file;
}

fs::path find_prefix() {
  std::error_code error;
  const fs::path file = own_file();
  for (fs::path folder = file.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (fs::is_directory(folder / "share" / "colibri", error)) return folder;
  }
  return {};
}

fs::path below_prefix(const fs::path& part) {
  const fs::path prefix = install_prefix();
  return prefix.empty() ? fs::path() : prefix / part;
}

}  // namespace

fs::path install_prefix() {
  static const fs::path prefix = find_prefix();
  return prefix;
}

fs::path plugin_dir() {
  return below_prefix("lib/colibri/plugins");
}
fs::path architecture_dir() {
  return below_prefix("share/colibri/architectures");
}
fs::path chat_template_dir() {
  return below_prefix("share/colibri/chat_templates");
}

}  // namespace colibri
