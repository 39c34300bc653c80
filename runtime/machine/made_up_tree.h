// SPDX-License-Identifier: Apache-2.0
// For tests: a folder that stands for the root of a machine's /proc and /sys.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace colibri::machine {

class MadeUpTree {
 public:
  MadeUpTree() {
    std::string pattern = std::filesystem::temp_directory_path() / "colibri-tree-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~MadeUpTree() { std::filesystem::remove_all(root_); }
  MadeUpTree(const MadeUpTree&) = delete;
  MadeUpTree& operator=(const MadeUpTree&) = delete;

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ + path); }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace colibri::machine
