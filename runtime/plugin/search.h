// SPDX-License-Identifier: Apache-2.0
// Where plugins may lie, and which files there are candidates. A plugin is code that runs with our
// rights, so nothing is taken from the working directory or from where everybody may write
// (SECURITY.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace colibri::plugin {

// The folders of COLIBRI_PLUGIN_PATH (separated by ':', ignored in a set-user-ID program), then
// plugin_dir() of the installation or build folder.
std::vector<std::filesystem::path> installed_folders();

struct FoundFile {
  std::filesystem::path path;  // of a file or, refused as a whole, of a folder
  std::string refusal;         // why it is not even opened; empty = a candidate
};

// The .so files of the folders in order, each folder's by name; a file that is reached twice counts
// once. A folder that does not exist holds none.
std::vector<FoundFile> find_plugin_files(const std::vector<std::filesystem::path>& folders);

}  // namespace colibri::plugin
