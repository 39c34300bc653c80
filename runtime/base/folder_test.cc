// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "runtime/base/temporary_folder.h"

namespace colibri {
namespace {

namespace fs = std::filesystem;

TEST(Folder, EntriesOfEveryKindAreSorted) {
  const TemporaryFolder folder("colibri folder 夹");
  const fs::path path = folder.path();
  std::ofstream(path / "b") << "x";
  std::ofstream(path / ".a") << "x";
  fs::create_directory(path / "c d");
  fs::create_symlink("nowhere", path / "a");
  const auto listed = list_folder(path);
  ASSERT_TRUE(listed.ok()) << listed.status().text();
  EXPECT_EQ(*listed, (std::vector<fs::path>{path / ".a", path / "a", path / "b", path / "c d"}));
}

TEST(Folder, WhatIsNoFolderIsRefusedByName) {
  const TemporaryFolder folder("colibri no folder");
  const fs::path missing = folder.path() / "missing";
  EXPECT_EQ(list_folder(missing).status().code(), COLIBRI_NOT_FOUND);
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "x";
  const Status refused = list_folder(file).status();
  EXPECT_EQ(refused.code(), COLIBRI_NOT_FOUND);
  EXPECT_EQ(refused.text(), file.string() + ": cannot be listed: Not a directory");
}

}  // namespace
}  // namespace colibri
