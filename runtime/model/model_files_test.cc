// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/model_files.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace colibri::model {
namespace {

namespace fs = std::filesystem;

class ModelFilesTest : public ::testing::Test {
 protected:
  void write(const fs::path& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(ModelFilesTest, ListsRegularFilesByName) {
  write("b.json", "bb");
  write("a \xE6\xA8\xA1.json", "a");
  fs::create_directory(folder_ / "inner");
  write("inner/c.json", "ccc");
  fs::create_symlink("inner/c.json", folder_ / "linked");
  const auto files = ModelFiles::open(folder_);
  ASSERT_TRUE(files.ok()) << files.status().text();
  ASSERT_EQ((*files)->count(), 3u);
  EXPECT_EQ((*files)->name(0), "a \xE6\xA8\xA1.json");
  EXPECT_EQ((*files)->name(1), "b.json");
  EXPECT_EQ((*files)->name(2), "linked");
  EXPECT_EQ((*files)->size(2), 3u);
  EXPECT_EQ((*files)->path(1), folder_ / "b.json");
}

TEST_F(ModelFilesTest, APartOfASplitGgufBringsTheOthersThatAreThere) {
  write("m-00001-of-00003.gguf", "a");
  write("m-00003-of-00003.gguf", "c");
  write("m-00002-of-00004.gguf", "of another split");
  for (const char* given : {"m-00001-of-00003.gguf", "m-00003-of-00003.gguf"}) {
    const auto files = ModelFiles::open(folder_ / given);
    ASSERT_TRUE(files.ok()) << files.status().text();
    ASSERT_EQ((*files)->count(), 2u);
    EXPECT_EQ((*files)->name(0), "m-00001-of-00003.gguf");
    EXPECT_EQ((*files)->name(1), "m-00003-of-00003.gguf");
  }
}

TEST_F(ModelFilesTest, ASingleFileStandsAlone) {
  write("a.gguf", "abc");
  write("b.gguf", "x");
  const auto files = ModelFiles::open(folder_ / "a.gguf");
  ASSERT_TRUE(files.ok());
  ASSERT_EQ((*files)->count(), 1u);
  EXPECT_EQ((*files)->name(0), "a.gguf");
}

TEST_F(ModelFilesTest, TheTableReadsExactlyOrFails) {
  write("a", "0123456789");
  const auto files = ModelFiles::open(folder_);
  ASSERT_TRUE(files.ok());
  const colibri_file* table = (*files)->table();
  ASSERT_EQ(table->count, 1u);
  EXPECT_EQ(table->size(table, 0), 10u);
  char bytes[4] = {};
  colibri_error error = empty_error();
  EXPECT_EQ(table->read(table, 0, 6, bytes, 4, &error), COLIBRI_OK);
  EXPECT_EQ(std::string(bytes, 4), "6789");
  EXPECT_EQ(table->read(table, 0, 7, bytes, 4, &error), COLIBRI_IO);
  EXPECT_EQ(table->read(table, 0, UINT64_MAX, bytes, 4, &error), COLIBRI_IO);
  EXPECT_EQ(table->read(table, 0, 10, bytes, 0, &error), COLIBRI_OK);
}

// A format plugin may ask for anything.
TEST_F(ModelFilesTest, TheTableKnowsItsEnd) {
  write("a", "0123456789");
  const auto files = ModelFiles::open(folder_);
  ASSERT_TRUE(files.ok());
  const colibri_file* table = (*files)->table();
  char byte = 0;
  colibri_error error = empty_error();
  EXPECT_EQ(table->read(table, 1, 0, &byte, 1, &error), COLIBRI_IO);
  EXPECT_STREQ(error.text, "file 1 of 1 does not exist");
  EXPECT_EQ(table->size(table, 1), 0u);
  EXPECT_EQ(table->name(table, 1).size, 0u);
}

TEST_F(ModelFilesTest, AReplacedFileDoesNotChangeTheModel) {
  write("a", "old");
  const auto files = ModelFiles::open(folder_);
  ASSERT_TRUE(files.ok());
  write("new", "new");
  fs::rename(folder_ / "new", folder_ / "a");
  char bytes[3] = {};
  ASSERT_TRUE((*files)->read(0, 0, bytes, 3).ok());
  EXPECT_EQ(std::string(bytes, 3), "old");
}

}  // namespace
}  // namespace colibri::model
