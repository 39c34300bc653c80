// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/search.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

namespace colibri::plugin {
namespace {

namespace fs = std::filesystem;

class SearchTest : public testing::Test {
 protected:
  fs::path folder(const std::string& name) const {
    fs::create_directories(root_ / name);
    return root_ / name;
  }
  static void touch(const fs::path& file) { std::ofstream(file) << "x"; }

  const TemporaryFolder temporary_;
  const fs::path& root_ = temporary_.path();
};

std::vector<std::string> texts(const std::vector<FoundFile>& found) {
  std::vector<std::string> all;
  for (const FoundFile& file : found) {
    all.push_back(file.path.filename().string() +
                  (file.refusal.empty() ? "" : ": " + file.refusal));
  }
  return all;
}
using Texts = std::vector<std::string>;

TEST_F(SearchTest, FoldersInOrderFilesByName) {
  const fs::path one = folder("one");
  const fs::path two = folder("two");
  for (const fs::path& file : {one / "b.so", one / "a.so", one / "a.txt", two / "0.so"})
    touch(file);
  EXPECT_EQ(texts(find_plugin_files({two, one})), (Texts{"0.so", "a.so", "b.so"}));
}

TEST_F(SearchTest, AFileReachedTwiceCountsOnce) {
  const fs::path one = folder("one");
  const fs::path two = folder("two");
  touch(one / "a.so");
  fs::create_symlink(one / "a.so", two / "link.so");
  EXPECT_EQ(texts(find_plugin_files({one, two, one})), Texts{"a.so"});
}

TEST_F(SearchTest, FoldersThatEverybodyMayWriteTo) {
  const fs::path one = folder("one");
  touch(one / "a.so");
  ASSERT_EQ(chmod(one.c_str(), 0777), 0);
  EXPECT_EQ(texts(find_plugin_files({one})),
            Texts{"one: everybody may write to this folder (chmod o-w)"});
  ASSERT_EQ(chmod(one.c_str(), 01777), 0);
  EXPECT_EQ(texts(find_plugin_files({one})),
            Texts{"one: everybody may write to this folder (chmod o-w)"});
}

TEST_F(SearchTest, OnlyRegularFilesThatNotEverybodyMayWriteTo) {
  const fs::path one = folder("one");
  touch(one / "a.so");
  ASSERT_EQ(chmod((one / "a.so").c_str(), 0666), 0);
  fs::create_directory(one / "b.so");
  ASSERT_EQ(mkfifo((one / "c.so").c_str(), 0600), 0);
  fs::create_symlink("nowhere", one / "d.so");
  EXPECT_EQ(texts(find_plugin_files({one})),
            (Texts{"a.so: everybody may write to this file (chmod o-w)", "b.so: not a regular file",
                   "c.so: not a regular file", "d.so: cannot be read"}));
}

TEST_F(SearchTest, NeverTheWorkingDirectory) {
  EXPECT_EQ(texts(find_plugin_files({"."})), Texts{".: not an absolute path"});
  EXPECT_EQ(texts(find_plugin_files({"plugins"})), Texts{"plugins: not an absolute path"});
}

TEST_F(SearchTest, MissingFoldersHoldNothing) {
  EXPECT_TRUE(find_plugin_files({root_ / "missing"}).empty());
  touch(root_ / "file");
  EXPECT_EQ(texts(find_plugin_files({root_ / "file"})), Texts{"file: not a folder"});
}

TEST_F(SearchTest, TheVariableStandsBeforeTheInstallation) {
  ASSERT_EQ(setenv("COLIBRI_PLUGIN_PATH", "/a:/b c::/d:", 1), 0);
  const std::vector<fs::path> folders = installed_folders();
  ASSERT_EQ(unsetenv("COLIBRI_PLUGIN_PATH"), 0);
  const std::vector<fs::path> without = installed_folders();
  ASSERT_EQ(folders.size(), without.size() + 3);
  EXPECT_EQ(folders[0], "/a");
  EXPECT_EQ(folders[1], "/b c");
  EXPECT_EQ(folders[2], "/d");
}

}  // namespace
}  // namespace colibri::plugin
