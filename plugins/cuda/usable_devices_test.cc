// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/usable_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace colibri::cuda {
namespace {

constexpr int kBuilt[] = {75, 80, 86, 90, 120};

DriverAnswer answer(std::vector<FoundDevice> devices) {
  return {13010, 13000, "", std::move(devices)};
}

std::string refusal(const DriverAnswer& given) {
  const auto usable = usable_devices(given, kBuilt);
  EXPECT_EQ(usable.status().code(), COLIBRI_UNSUPPORTED);
  return usable.status().text();
}

TEST(UsableDevicesTest, SaysWhatIsMissing) {
  EXPECT_EQ(refusal({0, 13000, "", {}}),
            "no NVIDIA driver on this machine (libcuda.so.1 cannot be loaded)");
  EXPECT_EQ(refusal({12080, 13000, "", {}}),
            "the NVIDIA driver is too old: it is for CUDA 12.8, the plugin needs one for CUDA 13.0 "
            "or newer");
  EXPECT_EQ(refusal({13000, 13000, "unknown error", {}}),
            "the NVIDIA driver gives no devices: unknown error");
  EXPECT_EQ(refusal(answer({})),
            "no NVIDIA device is visible (is there one, and does CUDA_VISIBLE_DEVICES hide it?)");
  EXPECT_EQ(refusal(answer({{"Tesla V100", 7, 0}, {"GTX 1080", 6, 1}})),
            "has code for sm_75, sm_80, sm_86, sm_90, sm_120 only, and here is Tesla V100 (sm_70), "
            "GTX 1080 (sm_61)");
}

TEST(UsableDevicesTest, CodeRunsOnTheSameMajorAndNoLowerMinor) {
  const auto usable = usable_devices(answer({{"V100", 7, 0},
                                             {"T4", 7, 5},
                                             {"L4", 8, 9},
                                             {"H200", 9, 0},
                                             {"B200", 10, 0},
                                             {"RTX 5090", 12, 0},
                                             {"GB10", 12, 1}}),
                                     kBuilt);
  ASSERT_TRUE(usable.ok());
  EXPECT_THAT(*usable, testing::ElementsAre(1, 2, 3, 5, 6));
}

TEST(UsableDevicesTest, ANewerDriverAndAnOlderMinorWillDo) {
  EXPECT_TRUE(usable_devices({14020, 13000, "", {{"H200", 9, 0}}}, kBuilt).ok());
  EXPECT_TRUE(usable_devices({13000, 13020, "", {{"H200", 9, 0}}}, kBuilt).ok());
}

}  // namespace
}  // namespace colibri::cuda
