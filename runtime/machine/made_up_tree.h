// SPDX-License-Identifier: Apache-2.0
// For tests: a folder that stands for the root of a machine's /proc and /sys.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/base/temporary_folder.h"

namespace colibri::machine {

class MadeUpTree {
 public:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ + path); }
  const std::string& root() const { return root_; }

 private:
  const TemporaryFolder folder_;
  const std::string root_ = folder_.path();
};

}  // namespace colibri::machine
