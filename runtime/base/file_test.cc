// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace colibri {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() {
    folder_ = std::filesystem::path(testing::TempDir()) / "colibri file 测试";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "a") << "0123456789";
  }
  ~FileTest() override {
    fault_injection::set_read_fault({});
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(FileTest, ReadsRangesAndRefusesThoseOutside) {
  auto file = File::open(folder_ / "a");
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ(file->size(), 10u);
  char bytes[4] = {};
  ASSERT_TRUE(file->read(3, bytes, 4).ok());
  EXPECT_EQ(std::string(bytes, 4), "3456");
  EXPECT_EQ(file->read(8, bytes, 3).code(), COLIBRI_IO);
  EXPECT_EQ(file->read(UINT64_MAX, bytes, 2).code(), COLIBRI_IO);
  EXPECT_TRUE(file->read(10, bytes, 0).ok());
}

TEST_F(FileTest, RefusesWhatIsNotARegularFile) {
  EXPECT_EQ(File::open(folder_ / "none").status().code(), COLIBRI_NOT_FOUND);
  EXPECT_NE(File::open(folder_).status().text().find("is a folder"), std::string::npos);
  const auto fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(File::open(fifo).status().text().find("is a FIFO"), std::string::npos);
}

TEST_F(FileTest, LimitsWholeFiles) {
  EXPECT_EQ(*read_file(folder_ / "a", 10), "0123456789");
  EXPECT_EQ(read_file(folder_ / "a", 9).status().code(), COLIBRI_INVALID_ARGUMENT);
}

TEST_F(FileTest, FaultsCanBeInjected) {
  fault_injection::set_read_fault(
      [](const std::filesystem::path&, uint64_t, uint64_t) { return io_error("injected"); });
  EXPECT_EQ(read_file(folder_ / "a", 10).status().text(), "injected");
}

TEST_F(FileTest, AFileCutWhileInUseIsAnError) {
  auto file = File::open(folder_ / "a");
  std::filesystem::resize_file(folder_ / "a", 5);
  char bytes[10];
  EXPECT_EQ(file->read(0, bytes, 10).code(), COLIBRI_IO);
}

TEST_F(FileTest, WritesWholeFiles) {
  EXPECT_TRUE(write_file(folder_ / "a", "shorter").ok());
  EXPECT_EQ(*read_file(folder_ / "a", 10), "shorter");
  EXPECT_EQ(write_file("/dev/full", "x").text(),
            "/dev/full: writing failed: No space left on device");
  EXPECT_NE(write_file(folder_ / "none" / "a", "x").text().find("cannot be written"),
            std::string::npos);
}

}  // namespace
}  // namespace colibri
