// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/cpu_features.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace colibri::machine {
namespace {

constexpr uint64_t kSaveAll = 0xE7;

// A processor that has every feature, with as many leaves as given.
Cpuid everything(uint32_t last_leaf) {
  return [last_leaf](uint32_t leaf, uint32_t) {
    if (leaf == 0) return CpuidAnswer{last_leaf, 0, 0, 0};
    if (leaf == 0x80000000) return CpuidAnswer{0x80000008, 0, 0, 0};
    return CpuidAnswer{~0u, ~0u, ~0u, ~0u};
  };
}

TEST(CpuFeaturesTest, EverythingWhenTheSystemSavesEverything) {
  const FeatureSet features = x86_features(everything(7), kSaveAll);
  for (const char* name :
       {"sse2", "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16"}) {
    EXPECT_TRUE(features.contains(name)) << name;
  }
}

TEST(CpuFeaturesTest, RegistersThatAreNotSavedAreNoFeature) {
  const FeatureSet no_zmm = x86_features(everything(7), 0x7);
  EXPECT_TRUE(no_zmm.contains("avx2"));
  EXPECT_FALSE(no_zmm.contains("avx512f"));
  EXPECT_FALSE(no_zmm.contains("avx512_vnni"));
  const FeatureSet no_ymm = x86_features(everything(7), 0);
  EXPECT_TRUE(no_ymm.contains("sse4_2"));
  EXPECT_FALSE(no_ymm.contains("avx2"));
  EXPECT_FALSE(no_ymm.contains("fma"));
}

TEST(CpuFeaturesTest, LeavesThatDoNotExistAreNotRead) {
  const FeatureSet features = x86_features(everything(1), kSaveAll);
  EXPECT_TRUE(features.contains("fma"));
  EXPECT_FALSE(features.contains("avx2"));
}

TEST(CpuFeaturesTest, SubleavesThatDoNotExistAreNotRead) {
  const Cpuid one_subleaf = [](uint32_t leaf, uint32_t subleaf) {
    if (leaf == 7 && subleaf == 0) return CpuidAnswer{0, ~0u, ~0u, ~0u};
    return everything(7)(leaf, subleaf);
  };
  const FeatureSet features = x86_features(one_subleaf, kSaveAll);
  EXPECT_TRUE(features.contains("avx512f"));
  EXPECT_FALSE(features.contains("avx512_bf16"));
}

TEST(CpuFeaturesTest, ArmBitsGetTheKernelsNames) {
  const FeatureSet plain = arm_features(0x3, 0);
  EXPECT_EQ(plain, (FeatureSet{"asimd", "fp"}));
  const FeatureSet newer = arm_features(1u << 20 | 0x3, 1u << 13 | 1u << 14);
  EXPECT_EQ(newer, (FeatureSet{"asimd", "asimddp", "bf16", "fp", "i8mm"}));
}

TEST(CpuFeaturesTest, LevelsOnlyRemove) {
  const FeatureSet all = x86_features(everything(7), kSaveAll);
  const Result<FeatureSet> avx2 = limited(all, "x86_64", "avx2");
  ASSERT_TRUE(avx2.ok());
  EXPECT_TRUE(avx2->contains("avx2"));
  EXPECT_FALSE(avx2->contains("avx512f"));
  EXPECT_FALSE(avx2->contains("avx_vnni")) << "not part of the level";
  EXPECT_TRUE(limited(all, "x86_64", "avx512")->contains("avx512bw"));
  EXPECT_FALSE(limited(all, "x86_64", "avx512")->contains("avx512_vnni"));
  EXPECT_EQ(*limited(FeatureSet{"sse2"}, "x86_64", "avx512"), FeatureSet{"sse2"});
  EXPECT_EQ(*limited(arm_features(~0ull, ~0ull), "aarch64", "dotprod"),
            (FeatureSet{"asimd", "asimddp", "fp"}));
}

TEST(CpuFeaturesTest, UnknownLevelNamesTheKnownOnes) {
  const Result<FeatureSet> result = limited({}, "aarch64", "avx2");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().text(),
            "unknown instruction-set level 'avx2'; those of aarch64: baseline, dotprod, i8mm");
}

// The kernel is an oracle: it lists a superset under the same names (on real hardware; emulators
// show the host's list).
TEST(CpuFeaturesTest, AgreesWithTheKernelOnThisMachine) {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> listed;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) listed.insert(word);
    break;
  }
  const bool same_architecture = listed.contains(architecture() == "x86_64" ? "sse2" : "asimd") &&
                                 getenv("QEMU_CPU") == nullptr;
  if (!same_architecture) GTEST_SKIP() << "/proc/cpuinfo is not of the emulated processor";
  for (const std::string& feature : cpu_features()) {
    EXPECT_TRUE(listed.contains(feature)) << feature;
  }
  for (const char* feature : {"avx2", "fma", "avx512f", "avx512_vnni", "asimddp", "i8mm"}) {
    EXPECT_EQ(listed.contains(feature), cpu_features().contains(feature)) << feature;
  }
}

}  // namespace
}  // namespace colibri::machine
