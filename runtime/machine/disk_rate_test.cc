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
    }
  }
}

TEST_F(DiskRateTest, SaysWhatCannotBeRead) {
  EXPECT_EQ(measure_disk_rate(path_, 4096).status().code(), COLIBRI_IO);
  ASSERT_TRUE(write_file(path_, "").ok());
  EXPECT_EQ(measure_disk_rate(path_, 4096).status().code(), COLIBRI_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace colibri::machine
