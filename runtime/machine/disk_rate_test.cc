// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/disk_rate.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "runtime/base/file.h"

namespace colibri::machine {
namespace {

class DiskRateTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "file";
};

TEST_F(DiskRateTest, FilesOfAnySizeAreRead) {
  for (const size_t size : {size_t{1}, size_t{4097}, size_t{1} << 20}) {
    ASSERT_TRUE(write_file(path_, std::string(size, 'x')).ok());
    for (const uint64_t read : {uint64_t{1}, uint64_t{300000}, uint64_t{1} << 40}) {
      const auto rate = measure_disk_rate(path_, read);
      ASSERT_TRUE(rate.ok()) << rate.status().text();
      EXPECT_GT(rate->bytes_per_second, 0);
      EXPECT_GT(rate->lone_read_seconds, 0);
      EXPECT_GE(rate->read_bytes, uint64_t{4096});
      EXPECT_LE(rate->read_bytes, uint64_t{8} << 20);
    }
  }
}

TEST(DiskRate, WhatIsLongerThanAReadTakesSeveral) {
  const DiskRate rate = {2e9, 0.004, 8u << 20};
  EXPECT_DOUBLE_EQ(rate.lone_seconds(80u << 20), 0.04);
  EXPECT_DOUBLE_EQ(rate.lone_seconds(8u << 20), 0.004);
  EXPECT_DOUBLE_EQ(rate.lone_seconds(4096), 0.004);
}

TEST_F(DiskRateTest, SaysWhatCannotBeRead) {
  EXPECT_EQ(measure_disk_rate(path_, 4096).status().code(), COLIBRI_IO);
  ASSERT_TRUE(write_file(path_, "").ok());
  EXPECT_EQ(measure_disk_rate(path_, 4096).status().code(), COLIBRI_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace colibri::machine
