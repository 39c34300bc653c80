// SPDX-License-Identifier: Apache-2.0
// A folder for a test. Header-only.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace colibri {

// A new folder that goes, with all in it, when this does. No two have the same path, whatever else
// runs on the machine. name: a part of its last step, e.g. for tests of paths that are not ASCII.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name = "colibri") {
    std::string path = std::filesystem::temp_directory_path() / (name + " XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      std::perror(path.c_str());
      std::abort();
    }
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace colibri
