// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/temporary_folder.h"

namespace colibri {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() { std::ofstream(folder_ / "a") << "0123456789"; }
  ~FileTest() override { fault_injection::set_read_fault({}); }
  const TemporaryFolder temporary_{"colibri file 测试"};
  const std::filesystem::path& folder_ = temporary_.path();
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

// Answers of the system, one an attempt; then all goes well.
void answer_with(std::vector<int64_t> answers) {
  fault_injection::set_read_fault(
      [answers, next = size_t{0}](const std::filesystem::path&, uint64_t, uint64_t n) mutable {
        return next < answers.size() ? answers[next++] : static_cast<int64_t>(n);
      });
}

TEST_F(FileTest, WhatMayPassIsTriedAgain) {
  const std::vector<std::vector<int64_t>> passing = {
      {-EIO}, {0}, {3, 4}, {1, -EINTR, 1, -EINTR}, {-EAGAIN, -EAGAIN, -EAGAIN}, {2, -EIO}};
  for (const auto& answers : passing) {
    answer_with(answers);
    const auto text = read_file(folder_ / "a", 10);
    ASSERT_TRUE(text.ok()) << text.status().text();
    EXPECT_EQ(*text, "0123456789");
  }
}

TEST_F(FileTest, WhatDoesNotPassIsAnError) {
  const std::string path = (folder_ / "a").string();
  answer_with({4, -EIO, -EIO});
  EXPECT_EQ(read_file(path, 10).status().text(),
            path + ": reading at byte 4 failed: Input/output error");
  answer_with({-EIO, 4, 0});
  EXPECT_EQ(read_file(path, 10).status().text(),
            path + ": ends at byte 4, it was cut short while in use");
  answer_with(std::vector<int64_t>(2000, -EAGAIN));
  EXPECT_EQ(read_file(path, 10).status().code(), COLIBRI_IO);
}

TEST_F(FileTest, AFileCutWhileInUseIsAnError) {
  auto file = File::open(folder_ / "a");
  std::filesystem::resize_file(folder_ / "a", 5);
  char bytes[10];
  EXPECT_EQ(file->read(0, bytes, 10).text(),
            (folder_ / "a").string() + ": ends at byte 5, it was cut short while in use");
}

TEST_F(FileTest, DirectReadsBringTheSameBytes) {
  std::string content(3 * kDirectAlignment + 700, ' ');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i / 7);
  ASSERT_TRUE(write_file(folder_ / "b", content).ok());
  auto file = File::open(folder_ / "b");
  auto direct = file->open_direct();
  if (!direct.ok()) GTEST_SKIP() << direct.status().text();
  EXPECT_TRUE(direct->direct());
  const auto memory = Memory::allocate(5 * kDirectAlignment, "a test");
  // Attempts that end within a block, and a last block that the file does not fill.
  for (const std::vector<int64_t>& answers :
       std::vector<std::vector<int64_t>>{{}, {kDirectAlignment}, {2 * kDirectAlignment, -EIO}}) {
    answer_with(answers);
    const uint64_t n = content.size() - kDirectAlignment;
    const Status status = direct->read(kDirectAlignment, memory->data(), n);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(memory->data()), n),
              content.substr(kDirectAlignment));
  }
  fault_injection::set_read_fault({});
  std::filesystem::resize_file(folder_ / "b", 2 * kDirectAlignment + 5);
  EXPECT_EQ(direct->read(kDirectAlignment, memory->data(), 2 * kDirectAlignment).text(),
            (folder_ / "b").string() + ": ends at byte 8197, it was cut short while in use");
}

TEST_F(FileTest, AFileThatWasReplacedIsNotReadDirectly) {
  auto file = File::open(folder_ / "a");
  std::filesystem::rename(folder_ / "a", folder_ / "old");
  ASSERT_TRUE(write_file(folder_ / "a", "another").ok());
  EXPECT_EQ(file->open_direct().status().code(), COLIBRI_UNSUPPORTED);
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
